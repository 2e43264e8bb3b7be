"""Towers of CLIP's and SigLIP's line."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.vision import (
    grid,
    heads,
    learned,
    plain,
    pooled_by_attention,
    tower,
)


def clip(c: Config) -> Tree:
    """arXiv:2103.00020 section 2.4: a class token, and a norm before the first layer."""
    c.ignore("projection_dim", "vocab_size")
    return tower(
        c, attention=heads(c), ffn=plain(c), positions=learned(grid(c) + 1), class_tokens=1,
        before="layer", patch_bias=False,
    )  # fmt: skip


def siglip(c: Config) -> Tree:
    """arXiv:2303.15343: no class token; a pooler by attention unless the file says not."""
    c.ignore("projection_dim", "num_image_tokens")
    return _siglip(c, grid(c), pools=c.flag("vision_use_head", default=True))


def siglip2(c: Config) -> Tree:
    """arXiv:2502.14786: positions for a number of patches, resized to the shape of each image."""
    c.ignore("image_size")
    return _siglip(c, c.size("num_patches"), pools=c.flag("vision_use_head", default=True))


def idefics(c: Config) -> Tree:
    """SigLIP without its pooler (arXiv:2405.02246, arXiv:2408.12637)."""
    return _siglip(c, grid(c), pools=False)


def _siglip(c: Config, positions: int, *, pools: bool) -> Tree:
    pooler = pooled_by_attention(c) if pools else None
    return tower(
        c, attention=heads(c), ffn=plain(c), positions=learned(positions), pooler=pooler,
    )  # fmt: skip
