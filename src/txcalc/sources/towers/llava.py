"""Whole models that hand the patches of one encoder to a text model through a small network."""

from __future__ import annotations

from math import isqrt

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.parts import mha
from txcalc.sources.readers.trees import given, tensor
from txcalc.sources.readers.vision import ROTARY, merged_side, mlp, norm, side, tower
from txcalc.sources.towers import tower as read

Towers = dict[str, Tree]


def pixtral(c: Config) -> Tree:
    """arXiv:2410.07073: rotary positions, no biases, a gated FFN, a norm before the first layer."""
    c.ignore("head_dim")
    attend = mha(c.size("num_attention_heads"))
    ffn = {"kind": "glu", "d_ff": c.size("intermediate_size")}
    return tower(
        c, attention=attend, ffn=ffn, positions=ROTARY, norm="rms", before="rms", after="none",
        patch_bias=False, image={"kind": "longest", "longest": side(c, "image_size")},
    )  # fmt: skip


def llava(c: Config, d_model: int) -> Towers:
    """arXiv:2310.03744: two matrices over the patches of one layer, or of several side by side."""
    vision = read(c, "vision_config", "clip_vision_model")
    return _joined(vision, _llava(c, vision, d_model), **_with_class(c))


def llava_next(c: Config, d_model: int) -> Towers:
    """LLaVA-NeXT (2024-01-30): the same, and a vector for the end of each row of an image."""
    vision = _anyres(c, read(c, "vision_config", "clip_vision_model"), _CANVASES)
    newline = {"image_newline": tensor("elementwise", d_model)}
    return _joined(vision, newline | _llava(c, vision, d_model), **_with_class(c))


def llava_onevision(c: Config, d_model: int) -> Towers:
    """arXiv:2408.03326: canvases of up to 6 x 6 tiles, shrunk beyond so many tokens."""
    vision = _anyres(c, read(c, "vision_config", "siglip_vision_model"), _36_CANVASES)
    ratio = c.word("vision_aspect_ratio", default="anyres_max_9")
    if "image" in vision and ratio.removeprefix("anyres_max_").isdecimal():
        vision["image"] |= {"most": int(ratio.removeprefix("anyres_max_"))}
    newline = {"image_newline": tensor("elementwise", d_model)}
    return _joined(vision, newline | _llava(c, vision, d_model))


def mistral3(c: Config, d_model: int) -> Towers:
    """Published code of Mistral Small 3.1: four patches merged into one before two matrices."""
    vision = read(c, "vision_config", "pixtral")
    wide, merge = vision["d_model"], c.size("spatial_merge_size", default=2)
    merged = {"merge": tensor("matmul", wide, wide * merge * merge)}
    rows = norm("norm", wide, bias=False) | merged
    return _joined(vision, rows | _llava(c, vision, d_model, bias=False), merge=merge)


def _llava(c: Config, vision: Tree, d_model: int, *, bias: bool = True) -> Tree:
    layers = c.raw("vision_feature_layer")
    several = len(layers) if isinstance(layers, list) else 1
    biased = c.flag("multimodal_projector_bias", default=bias)
    return mlp(d_model, vision["d_model"] * several, bias=biased)


def internvl(c: Config, d_model: int) -> Towers:
    """arXiv:2404.16821 section 3.1: patches of a square side by side, a norm, two matrices."""
    vision = read(c, "vision_config", "internvl_vision")
    merge = merged_side(c, "downsample_ratio")
    merged, tile = vision["d_model"] * merge**2, vision["image"]["height"]
    shape = {"kind": "shape", "tile": tile, "max_tiles": 12, "marks": 2}
    rows = norm("norm", merged) | mlp(d_model, merged)
    return _joined(vision | {"image": shape}, rows, merge=merge)


def gemma3(c: Config, d_model: int) -> Towers:
    """arXiv:2503.19786 section 2.1: the mean of a square of patches, a norm, one matrix."""
    vision = read(c, "vision_config", "siglip_vision_model")
    rows = norm("norm", vision["d_model"], bias=False)
    side = vision["image"]["height"] // vision["patch"]["patch_size"]
    merge = side // isqrt(c.size("mm_tokens_per_image", default=256))
    linear = {"linear": tensor("matmul", d_model, vision["d_model"])}
    return _joined(vision, rows | linear, merge=merge or None)


def paligemma(c: Config, d_model: int) -> Towers:
    """arXiv:2407.07726: one matrix, as wide as the file says, which has to be the text model's."""
    vision = read(c, "vision_config", "siglip_vision_model")
    out = c.size("projection_dim", default=2048)
    rows = {"linear": tensor("matmul", out, vision["d_model"]), "linear_bias": tensor("bias", out)}
    return _joined(vision, rows)


def idefics3(c: Config, d_model: int) -> Towers:
    """arXiv:2408.12637: patches of a square side by side, and one matrix."""
    vision = read(c, "vision_config", "idefics3_vision")
    merge, tile = c.size("scale_factor", default=2), vision["image"]["height"]
    linear = {"linear": tensor("matmul", d_model, vision["d_model"] * merge**2)}
    marked = {"kind": "marked", "longest": 4 * tile, "tile": tile}
    return _joined(vision | {"image": marked}, linear, merge=merge)


def lfm2_vl(c: Config, d_model: int) -> Towers:
    """Published code of LFM2-VL: patches of a square side by side, two matrices."""
    vision = read(c, "vision_config", "siglip2_vision_model")
    merge = c.size("downsample_factor", default=2)
    merged = vision["d_model"] * merge**2
    middle, biased = c.size("projector_hidden_size"), c.flag("projector_bias", default=True)
    normed = norm("norm", merged) if c.flag("projector_use_layernorm", default=True) else {}
    rows = normed | mlp(d_model, merged, middle, bias=biased)
    return _joined(vision | {"image": _tiled(c)}, rows, merge=merge)


def _tiled(c: Config) -> Tree:
    """LFM2-VL's sizes, which its file states."""
    splits = c.flag("do_image_splitting", default=True)
    c.ignore("encoder_patch_size", "use_image_special_tokens")
    return {
        "kind": "tiled",
        "tile": c.size("tile_size", default=512),
        "min_tiles": c.size("min_tiles", default=2) if splits else 1,
        "max_tiles": c.size("max_tiles", default=10) if splits else 1,
        "min_tokens": c.size("min_image_tokens", default=64),
        "max_tokens": c.size("max_image_tokens", default=256),
        "tolerance": c.size("max_pixels_tolerance", default=2),
        "thumbnail": c.flag("use_thumbnail", default=True),
    }


_CANVASES = [[1, 2], [2, 1], [2, 2], [3, 1], [1, 3]]
_36_CANVASES = [[rows, columns] for rows in range(1, 7) for columns in range(1, 7)]


def _anyres(c: Config, vision: Tree, usual: list[list[int]]) -> Tree:
    """The tower with tiles of canvases that the file lists; ``usual`` ones are in tiles."""
    c.ignore("use_image_newline_parameter")
    tile = vision.get("image", {}).get("height")
    listed = c.raw("image_grid_pinpoints") or [[r * tile, k * tile] for r, k in usual if tile]
    pairs = isinstance(listed, list) and all(isinstance(p, list) and len(p) == 2 for p in listed)
    if tile is None or not pairs or (_with_class(c) and "class_tokens" in vision):
        return {name: field for name, field in vision.items() if name != "image"}
    return vision | {"image": {"kind": "anyres", "tile": tile, "canvases": listed}}


def _with_class(c: Config) -> Tree:
    """Whether class tokens are handed over with the patches."""
    strategy = c.word(
        "vision_feature_select_strategy", default="default", known=("default", "full")
    )
    return given(with_class=strategy == "full")


def _joined(vision: Tree, tensors: Tree, **fields: object) -> Towers:
    return {"vision": vision | {"projector": {**given(**fields), "tensors": tensors}}}
