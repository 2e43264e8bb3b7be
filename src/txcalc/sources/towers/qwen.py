"""Towers of Qwen-VL's line, each with the merger that joins it to the text model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import pattern
from txcalc.sources.readers.parts import mha
from txcalc.sources.readers.trees import given, tensor
from txcalc.sources.readers.vision import ROTARY, grid, heads, learned, mlp, norm, side, tower
from txcalc.sources.towers import tower as read

_OLD = (
    "tokens_per_second",
    "in_chans",
    "spatial_patch_size",
    "sliding_window",
    "initializer_range",
)


_QWEN2 = {"kind": "area", "min_pixels": 56 * 56, "max_pixels": 28 * 28 * 16384}
_QWEN3 = {"kind": "area", "min_pixels": 256 * 256, "max_pixels": 4096 * 4096}
_GLM = {"kind": "area", "min_pixels": 112 * 112 // 2, "max_pixels": 9633792 // 2}
"""Limits of the published preprocessor_config.json of each; GLM's count two frames."""


def qwen2_vl(c: Config) -> Tree:
    """arXiv:2409.12191: two frames a patch, rotary positions, four patches merged into one."""
    d_model = c.size("embed_dim")
    ffn = {"kind": "plain", "d_ff": int(d_model * c.number("mlp_ratio")), "bias": True}
    merger = _merger(c, d_model, c.size("hidden_size"), "layer")
    return _qwen(
        c, heads(c, key="num_heads"), ffn, width="embed_dim", norm="layer", projector=merger,
        image=_QWEN2,
    )  # fmt: skip


def qwen2_5_vl(c: Config) -> Tree:
    """arXiv:2502.13923: windows of so many pixels in all but a few layers, and a gated FFN."""
    d_model = c.size("hidden_size")
    attend = mha(c.size("num_heads"), c.maybe("num_key_value_heads"), bias=True)
    ffn = {"kind": "glu", "d_ff": c.size("intermediate_size"), "bias": True}
    merger = _merger(c, d_model, c.size("out_hidden_size"), "rms")
    tree = _qwen(c, attend, ffn, norm="rms", projector=merger, image=_QWEN2)
    full = c.sizes("fullatt_block_indexes")
    full = [7, 15, 23, 31] if full is None else full
    merge = c.size("spatial_merge_size", default=2)
    cells = c.size("window_size") // merge // side(c, "patch_size") * merge
    return _windowed(tree, cells, lambda i: i not in full)


def exaone4_5(c: Config) -> Tree:
    """Published code of EXAONE 4.5: the same with grouped queries."""
    if c.maybe("num_key_value_heads") is None:
        c.assume(num_key_value_heads=c.size("num_key_value_heads"))
    return qwen2_5_vl(c)


def qwen3_vl(c: Config) -> Tree:
    """arXiv:2511.21631: learned positions besides, and mergers of inner layers (DeepStack)."""
    deep = c.sizes("deepstack_visual_indexes")
    return _qwen3(c, 3 if deep is None else len(deep))


def qwen3_5(c: Config) -> Tree:
    """Published code of Qwen3.5: the same without DeepStack."""
    c.ignore("deepstack_visual_indexes")
    return _qwen3(c, 0)


def glm4v(c: Config) -> Tree:
    """arXiv:2507.01006: a convolution that merges patches, and a gated merger of its own width."""
    return _glm(c, c.size("intermediate_size"), heads_biased=False)


def glm_ocr(c: Config) -> Tree:
    """Published code of GLM-OCR: queries and keys normalised by head, biases everywhere."""
    wide = c.size("in_channels", default=3) * c.size("out_hidden_size")
    return _glm(c, wide, heads_biased=True)


def _glm(c: Config, merger: int, *, heads_biased: bool) -> Tree:
    out, merge = c.size("out_hidden_size"), c.size("spatial_merge_size", default=2)
    biased = c.flag("attention_bias", default=heads_biased)
    attend = heads(c, key="num_heads", bias=biased and (heads_biased or ["q", "k", "v"]))
    if heads_biased:
        attend |= {"qk_norm": "head"}
    bias = biased and heads_biased
    ffn = {"kind": "glu", "d_ff": c.size("intermediate_size") if heads_biased else out}
    joined = {
        "downsample": tensor("matmul", out, c.size("hidden_size") * merge * merge),
        "downsample_bias": tensor("bias", out),
        "proj": tensor("matmul", out, out),
        **norm("norm", out),
        "gate": tensor("matmul", merger, out),
        "up": tensor("matmul", merger, out),
        "down": tensor("matmul", out, merger),
    }
    tree = _qwen(
        c, attend, ffn | given(bias=bias), norm="rms", patch_bias=True,
        positions=ROTARY if heads_biased else learned(grid(c)), projector={"tensors": joined},
        before="none" if heads_biased else "rms", after="rms", image=_GLM,
    )  # fmt: skip
    c.ignore("image_size")
    return tree


def _qwen3(c: Config, deep: int) -> Tree:
    merged = c.size("hidden_size") * c.size("spatial_merge_size", default=2) ** 2
    out = c.size("out_hidden_size")
    tensors = norm("norm", c.size("hidden_size")) | mlp(out, merged, merged)
    of_each = norm("norm", merged) | mlp(out, merged, merged)
    tensors |= {f"deep_{name}": row | {"copies": deep} for name, row in of_each.items() if deep}
    ffn = {"kind": "plain", "d_ff": c.size("intermediate_size"), "bias": True}
    return _qwen(
        c, heads(c, key="num_heads"), ffn, norm="layer", patch_bias=True,
        positions=learned(c.size("num_position_embeddings")), projector={"tensors": tensors},
        image=_QWEN3,
    )  # fmt: skip


def _qwen(
    c: Config, attention: Tree, ffn: Tree, *, norm: str, projector: Tree,
    width: str = "hidden_size", patch_bias: bool = False, positions: Tree = ROTARY,
    after: str = "none", **fields: Any,
) -> Tree:  # fmt: skip
    c.ignore(*_OLD)
    projector = {"merge": c.size("spatial_merge_size", default=2)} | projector
    return tower(
        c, attention=attention, ffn=ffn, positions=positions, width=width, layers="depth",
        channels="in_channels", norm=norm, patch_bias=patch_bias, after=after,
        frames=c.size("temporal_patch_size", default=2), projector=projector, **fields,
    )  # fmt: skip


def _merger(c: Config, d_model: int, out: int, kind: str) -> Tree:
    """Patches side by side, and two matrices."""
    merged = d_model * c.size("spatial_merge_size", default=2) ** 2
    normed = norm("norm", d_model, bias=kind == "layer")
    return {"tensors": normed | mlp(out, merged, merged)}


def _windowed(tree: Tree, cells: int, slides: Callable[[int], bool]) -> Tree:
    """The same with attention within squares of so many patches in some layers."""
    full = tree["blocks"]["encoder"]
    inside = full | {"attention": full["attention"] | {"square": cells}}
    stack = tree["layers"]
    names = ["windowed" if slides(i) else "full" for i in range(stack["count"])]
    blocks = {name: b for name, b in (("windowed", inside), ("full", full)) if name in names}
    order = {**stack, **pattern(names), "count": stack["count"]}
    return tree | {"blocks": blocks, "layers": order}


def qwen2_vl_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """Qwen2-VL, whose tower holds what joins it to the text model."""
    return {"vision": read(c, "vision_config", "qwen2_vl_vision")}


def qwen2_5_vl_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """Qwen2.5-VL."""
    return {"vision": read(c, "vision_config", "qwen2_5_vl_vision")}


def qwen3_vl_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """Qwen3-VL, dense and with experts."""
    return {"vision": read(c, "vision_config", "qwen3_vl_vision")}


def qwen3_5_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """Qwen3.5, dense and with experts."""
    return {"vision": read(c, "vision_config", "qwen3_5_vision")}


def glm4v_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """GLM-4.1V to 4.6V."""
    return {"vision": read(c, "vision_config", "glm4v_vision")}


def glm_ocr_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """GLM-OCR."""
    return {"vision": read(c, "vision_config", "glm_ocr_vision")}


def exaone4_5_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """EXAONE 4.5."""
    return {"vision": read(c, "vision_config", "exaone4_5_vision")}
