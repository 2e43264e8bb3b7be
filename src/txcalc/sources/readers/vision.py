"""What families of towers share: a transformer over patches, and the tensors around it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.parts import mha
from txcalc.sources.readers.trees import dense, given, tensor

SCALES: Tree = {name: tensor("elementwise", "d_model") for name in ("scale_1", "scale_2")}
"""One factor a channel of what each sub-layer adds, arXiv:2103.17239."""

MASK: Tree = {"mask_token": tensor("elementwise", "d_model")}
"""The vector of a patch that is hidden in training."""


def plain(c: Config, *, width: str = "intermediate_size", bias: bool = True) -> Tree:
    """The FFN of a transformer over patches."""
    return {"kind": "plain", "d_ff": c.size(width)} | given(bias=bias)


def heads(c: Config, *, key: str = "num_attention_heads", **fields: Any) -> Tree:
    """Attention of all patches to all of them."""
    return mha(c.size(key), **({"bias": True} | fields))


def side(c: Config, key: str, default: int | None = None) -> int:
    """A size of a square, written as one number or as two."""
    sizes = c.raw(key)
    if not isinstance(sizes, list):
        return c.size(key, default=default)
    both = c.sizes(key, length=2) or []
    if len(set(both)) != 1 or not both[0]:
        c.unsupported(f"{key} {sizes}, which is no square,")
    return both[0]


def merged_side(c: Config, key: str) -> int:
    """The side of the square of patches that becomes one, where its inverse is written."""
    ratio = c.number(key, default=Fraction(1, 2))
    if ratio <= 0 or ratio.numerator != 1:
        c.unsupported(f"{key} {c.raw(key)}, which is not one over a whole number,")
    return ratio.denominator


def grid(c: Config) -> int:
    """Patches of a whole image, which positions are learned for."""
    patch = side(c, "patch_size")
    sizes = c.raw("image_size")
    if isinstance(sizes, list):
        height, width = c.sizes("image_size", length=2) or (0, 0)
    else:
        height = width = c.size("image_size")
    return (height // patch) * (width // patch)


def learned(rows: int) -> Tree:
    """A table of positions."""
    return {"kind": "learned", "n_positions": rows}


def fixed(c: Config) -> Tree:
    """Every image resized to the size that the tower is made for."""
    sizes = c.raw("image_size")
    height, width = (
        (c.sizes("image_size", length=2) or [0, 0]) if isinstance(sizes, list)
        else [c.size("image_size")] * 2
    )  # fmt: skip
    return {"kind": "fixed", "height": height, "width": width}


ROTARY: Tree = {"kind": "rotary"}


def tower(
    c: Config,
    *,
    attention: Tree,
    ffn: Tree,
    positions: Tree | None,
    width: str = "hidden_size",
    layers: str = "num_hidden_layers",
    channels: str = "num_channels",
    norm: str = "layer",
    block: Tree | None = None,
    patch_bias: bool = True,
    frames: int | None = None,
    before: str = "none",
    after: str = "layer",
    tensors: Tree | None = None,
    **fields: Any,
) -> Tree:
    """A transformer over patches, arXiv:2010.11929.

    ``before`` and ``after`` are the norms of its embeddings and of its last layer, ``block`` what
    each layer has besides; ``fields`` are the tower's other fields.
    """
    patch = {"patch_size": side(c, "patch_size"), "channels": c.size(channels, default=3)}
    layer = {"norm": norm, "attention": attention, "ffn": ffn}
    return {
        "reads": "image",
        "d_model": c.size(width),
        "patch": patch | given(frames=frames, bias=patch_bias),
        **given(**fields),
        "blocks": {"encoder": layer | given(tensors=block)},
        "layers": {
            "count": n_layers(c, layers),
            "pattern": ["encoder"],
            **given(positions=positions, embedding_norm=before, final_norm=after),
        },
        **given(tensors=tensors),
    }


def pooled_by_attention(c: Config, *, bias: bool = True) -> Tree:
    """One learned query attends to all patches, and an FFN follows: SigLIP's head.

    Published code of arXiv:2303.15343.
    """
    return {
        "d_model": c.size("hidden_size"),
        "queries": 1,
        "blocks": {
            "probe": {
                "norm": "none",
                "cross_attention": heads(c, bias=bias),
                "ffn": plain(c),
                "tensors": norm("norm", "d_model"),
            }
        },
        "layers": {"count": 1, "pattern": ["probe"]},
    }


def pooled_dense(out: int | str = "d_model", inside: int | str = "d_model") -> Tree:
    """A dense layer over the class token."""
    rows = dense("pooler", out, inside)
    rows["pooler"] |= {"stream": "sequence"}
    return rows


def norm(name: str, width: int | str, *, bias: bool = True) -> Tree:
    """A norm as tensors, with a bias or without."""
    return {key: tensor("norm", width) for key in (name, *([f"{name}_bias"] if bias else []))}


def mlp(out: int | str, inside: int | str, middle: int | str | None = None, *, bias: bool = True,
        names: tuple[str, str] = ("linear_1", "linear_2"), **fields: Any) -> Tree:  # fmt: skip
    """Two matrices as tensors, over the tokens that leave a projector unless ``fields`` say so."""
    first, second = names
    rows = dense(first, middle or out, inside, bias=bias)
    rows |= dense(second, out, middle or out, bias=bias)
    return {name: row | (fields if row["use"] == "matmul" else {}) for name, row in rows.items()}
