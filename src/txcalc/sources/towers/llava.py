"""Whole models that hand the patches of one encoder to a text model through a small network."""

from __future__ import annotations

from fractions import Fraction

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.parts import mha
from txcalc.sources.readers.trees import given, tensor
from txcalc.sources.readers.vision import ROTARY, mlp, norm, tower
from txcalc.sources.towers import tower as read

Towers = dict[str, Tree]


def pixtral(c: Config) -> Tree:
    """arXiv:2410.07073: rotary positions, no biases, a gated FFN, a norm before the first layer."""
    c.ignore("image_size")
    attend = mha(c.size("num_attention_heads")) | given(head_dim=c.maybe("head_dim"))
    ffn = {"kind": "glu", "d_ff": c.size("intermediate_size")}
    return tower(
        c, attention=attend, ffn=ffn, positions=ROTARY, norm="rms", before="rms", after="none",
        patch_bias=False,
    )  # fmt: skip


def llava(c: Config, d_model: int) -> Towers:
    """arXiv:2310.03744: two matrices over the patches of one layer, or of several side by side."""
    vision = read(c, "vision_config", "clip_vision_model")
    return _joined(vision, _llava(c, vision, d_model))


def llava_next(c: Config, d_model: int) -> Towers:
    """LLaVA-NeXT (2024-01-30): the same, and a vector for the end of each row of an image."""
    vision = read(c, "vision_config", "clip_vision_model")
    newline = {"image_newline": tensor("elementwise", d_model)}
    return _joined(vision, newline | _llava(c, vision, d_model))


def llava_onevision(c: Config, d_model: int) -> Towers:
    """arXiv:2408.03326."""
    vision = read(c, "vision_config", "siglip_vision_model")
    newline = {"image_newline": tensor("elementwise", d_model)}
    return _joined(vision, newline | _llava(c, vision, d_model))


def mistral3(c: Config, d_model: int) -> Towers:
    """Published code of Mistral Small 3.1: four patches merged into one before two matrices."""
    vision = read(c, "vision_config", "pixtral")
    wide, merge = vision["d_model"], c.size("spatial_merge_size", default=2)
    merged = {"merge": tensor("matmul", wide, wide * merge * merge)}
    rows = norm("norm", wide, bias=False) | merged
    return _joined(vision, rows | _llava(c, vision, d_model, bias=False))


def _llava(c: Config, vision: Tree, d_model: int, *, bias: bool = True) -> Tree:
    layers = c.raw("vision_feature_layer")
    several = len(layers) if isinstance(layers, list) else 1
    biased = c.flag("multimodal_projector_bias", default=bias)
    return mlp(d_model, vision["d_model"] * several, bias=biased)


def internvl(c: Config, d_model: int) -> Towers:
    """arXiv:2404.16821 section 3.1: patches of a square side by side, a norm, two matrices."""
    vision = read(c, "vision_config", "internvl_vision")
    merged = vision["d_model"] * int(1 / c.number("downsample_ratio", default=Fraction(1, 2))) ** 2
    return _joined(vision, norm("norm", merged) | mlp(d_model, merged))


def gemma3(c: Config, d_model: int) -> Towers:
    """arXiv:2503.19786 section 2.1: the mean of a square of patches, a norm, one matrix."""
    vision = read(c, "vision_config", "siglip_vision_model")
    rows = norm("norm", vision["d_model"], bias=False)
    return _joined(vision, rows | {"linear": tensor("matmul", d_model, vision["d_model"])})


def paligemma(c: Config, d_model: int) -> Towers:
    """arXiv:2407.07726: one matrix, as wide as the file says, which has to be the text model's."""
    vision = read(c, "vision_config", "siglip_vision_model")
    out = c.size("projection_dim", default=2048)
    rows = {"linear": tensor("matmul", out, vision["d_model"]), "linear_bias": tensor("bias", out)}
    return _joined(vision, rows)


def idefics3(c: Config, d_model: int) -> Towers:
    """arXiv:2408.12637: patches of a square side by side, and one matrix."""
    vision = read(c, "vision_config", "idefics3_vision")
    merged = vision["d_model"] * c.size("scale_factor", default=2) ** 2
    return _joined(vision, {"linear": tensor("matmul", d_model, merged)})


def lfm2_vl(c: Config, d_model: int) -> Towers:
    """Published code of LFM2-VL: patches of a square side by side, two matrices."""
    vision = read(c, "vision_config", "siglip2_vision_model")
    merged = vision["d_model"] * c.size("downsample_factor", default=2) ** 2
    middle, biased = c.size("projector_hidden_size"), c.flag("projector_bias", default=True)
    normed = norm("norm", merged) if c.flag("projector_use_layernorm", default=True) else {}
    return _joined(vision, normed | mlp(d_model, merged, middle, bias=biased))


def _joined(vision: Tree, tensors: Tree) -> Towers:
    return {"vision": vision | {"projector": {"tensors": tensors}}}
