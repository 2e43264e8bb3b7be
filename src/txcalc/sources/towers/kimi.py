"""MoonViT, the tower of Kimi-VL and Kimi-K2.5."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.vision import heads, learned, mlp, norm, plain, tower
from txcalc.sources.towers import tower as read

_OLD = (
    "init_pos_emb_time", "merge_type", "mm_hidden_size", "mm_projector_type", "pos_emb_time",
    "pos_emb_type", "projector_hidden_act", "projector_ln_eps", "text_hidden_size",
    "video_attn_type", "_attn_implementation", "merge_kernel_size",
)  # fmt: skip
_NAMES = {
    "hidden_size": "vt_hidden_size", "intermediate_size": "vt_intermediate_size",
    "num_attention_heads": "vt_num_attention_heads", "num_hidden_layers": "vt_num_hidden_layers",
}  # fmt: skip


def moonvit(c: Config) -> Tree:
    """arXiv:2504.07491 section 2.1: positions learned for a grid, rotary ones besides."""
    c.rename(_NAMES)
    c.ignore(*_OLD)
    rows = [
        c.size(f"init_pos_emb_{side}", f"pos_emb_{side}", default=64)
        for side in ("height", "width")
    ]
    return tower(
        c, attention=heads(c), ffn=plain(c), positions=learned(rows[0] * rows[1]), after="layer"
    )


def whole(c: Config, d_model: int) -> dict[str, Tree]:
    """arXiv:2504.07491 section 2.1: four patches side by side, two matrices."""
    vision = read(c, "vision_config", "kimi_k25_vision")
    merge = c.inner("vision_config")
    kernel = (merge and merge.sizes("merge_kernel_size", length=2)) or [2, 2]
    merged = vision["d_model"] * kernel[0] * kernel[1]
    normed = norm("norm", c.size("projection_hidden_size", default=1152))
    return {"vision": vision | {"projector": {"tensors": normed | mlp(d_model, merged, merged)}}}
