"""Towers of Gemma 4, and of the models that take images without one."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.parts import mha
from txcalc.sources.readers.trees import tensor
from txcalc.sources.readers.vision import tower
from txcalc.sources.towers import tower as read

_PROJECTIONS = 7
"""Linear layers of a block: q, k, v, o, gate, up, down."""


def gemma4(c: Config) -> Tree:
    """Published code of Gemma 4: norms around both sub-layers, a table of positions each way."""
    c.ignore(
        "attention_bias", "global_head_dim", "max_position_embeddings", "default_output_length"
    )
    c.ignore("image_seq_length", "video_seq_length", "pooling_kernel_size")
    attend = mha(
        c.size("num_attention_heads"), c.size("num_key_value_heads"), head_dim=c.size("head_dim"),
        qk_norm="head",
    )  # fmt: skip
    clipped = c.flag("use_clipped_linears", default=False)
    bounds = {"bounds": tensor("buffer", 1, copies=4 * _PROJECTIONS)} if clipped else {}
    rows = {"positions": tensor("lookup", c.size("position_embedding_size"), "d_model", copies=2)}
    if c.flag("standardize", default=False):
        rows["standard"] = tensor("buffer", "d_model", copies=2)
    tree = tower(
        c, attention=attend, ffn={"kind": "glu", "d_ff": c.size("intermediate_size")},
        positions={"kind": "rotary"}, norm="rms", block=bounds or None, after="none",
        patch_bias=False, tensors=rows,
    )  # fmt: skip
    block = tree["blocks"]["encoder"] | {"placement": "sandwich"}
    return tree | {"blocks": {"encoder": block}}


def gemma4_whole(c: Config, d_model: int) -> dict[str, Tree]:
    """Gemma 4: the mean of a square of patches, and one matrix; sound is not described."""
    if c.has("audio_config"):
        c.unsupported("the audio_config of Gemma 4")
    vision = read(c, "vision_config", "gemma4_vision")
    linear = {"linear": tensor("matmul", d_model, vision["d_model"])}
    merge = c.needed("vision_config").size("pooling_kernel_size")
    budget = {"kind": "budget", "tokens": c.size("vision_soft_tokens_per_image", default=280)}
    projector = {"merge": merge, "by_product": True, "tensors": linear}
    return {"vision": vision | {"image": budget, "projector": projector}}


def fuyu(c: Config, d_model: int) -> dict[str, Tree]:
    """Fuyu (2023-10-17): no tower; one matrix makes a token of each square of pixels."""
    patch, channels = c.size("patch_size", default=30), c.size("num_channels", default=3)
    pixels = patch * patch * channels
    linear = {"linear": tensor("matmul", d_model, pixels), "linear_bias": tensor("bias", d_model)}
    page = {"kind": "page", "height": 1080, "width": 1920, "side": patch}
    projector = {"tensors": linear}
    return {"vision": {"reads": "image", "d_model": pixels, "image": page, "projector": projector}}
