"""Towers of CLIP's and SigLIP's line."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import tensor
from txcalc.sources.readers.vision import (
    fixed,
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
        before="layer", patch_bias=False, image=fixed(c),
    )  # fmt: skip


def siglip(c: Config) -> Tree:
    """arXiv:2303.15343: no class token; a pooler by attention unless the file says not."""
    c.ignore("projection_dim", "num_image_tokens")
    pools = c.flag("vision_use_head", default=True)
    return _siglip(c, grid(c), pools=pools) | {"image": fixed(c)}


def siglip2(c: Config) -> Tree:
    """arXiv:2502.14786: positions that a product resizes to the patches of each image."""
    c.ignore("image_size")
    resized = {"positions": tensor("matmul", "d_model", c.size("num_patches"), stream="patches")}
    return _siglip(c, None, pools=c.flag("vision_use_head", default=True), tensors=resized)


def idefics(c: Config) -> Tree:
    """SigLIP without its pooler (arXiv:2405.02246, arXiv:2408.12637)."""
    return _siglip(c, grid(c), pools=False) | {"image": fixed(c)}


def _siglip(c: Config, rows: int | None, *, pools: bool, tensors: Tree | None = None) -> Tree:
    pooler = pooled_by_attention(c) if pools else None
    positions = None if rows is None else learned(rows)
    return tower(
        c, attention=heads(c), ffn=plain(c), positions=positions, pooler=pooler, tensors=tensors
    )
