"""Whole models whose projector is a resampler: Idefics2."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.parts import mha
from txcalc.sources.readers.trees import tensor
from txcalc.sources.readers.vision import norm
from txcalc.sources.towers import tower as read

_PERCEIVER = {
    "hidden_size": 4096, "resampler_n_latents": 64, "resampler_depth": 3, "resampler_n_heads": 16,
    "resampler_head_dim": 96, "num_key_value_heads": 4,
}  # fmt: skip


def idefics2(c: Config, d_model: int) -> dict[str, Tree]:
    """arXiv:2405.02246 section 3.3: a gated network over each patch, then learned latents.

    Latents attend to the patches and to each other by the same weights.
    """
    vision = read(c, "vision_config", "idefics2_vision")
    former = c.inner("perceiver_config") or c.absent("perceiver_config")
    former.usual = _PERCEIVER
    former.ignore("model_type")
    width, wide = former.size("hidden_size"), c.needed("text_config").size("intermediate_size")
    if width != d_model:
        former.refuse("hidden_size", f"{width}, but the text model is {d_model} wide")
    attend = mha(
        former.size("resampler_n_heads"), former.size("num_key_value_heads"),
        head_dim=former.size("resampler_head_dim"), merged=True,
    )  # fmt: skip
    block = {
        "norm": "rms", "attention": attend, "ffn": {"kind": "glu", "d_ff": 4 * width},
        "tensors": norm("context_norm", "d_model", bias=False),
    }  # fmt: skip
    rows = {
        "gate": tensor("matmul", wide, vision["d_model"], stream="source"),
        "up": tensor("matmul", wide, vision["d_model"], stream="source"),
        "down": tensor("matmul", "d_model", wide, stream="source"),
    }
    projector = {
        "d_model": width,
        "queries": former.size("resampler_n_latents"),
        "blocks": {"latents": block},
        "layers": {
            "count": former.size("resampler_depth"), "pattern": ["latents"], "final_norm": "rms",
        },
        "tensors": rows,
    }  # fmt: skip
    rest = {name: field for name, field in vision.items() if name != "image"}
    return {"vision": rest | {"projector": projector}}
