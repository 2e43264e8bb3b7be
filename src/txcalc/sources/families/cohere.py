"""Cohere's Command models."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.common import attention, glu, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform, windowed


def cohere(c: Config) -> Tree:
    """Attention and FFN side by side behind one LayerNorm without bias; q and k normed by flag."""
    qk_norm = "width" if c.flag("use_qk_norm", default=False) else "none"
    block = _block(c, None, qk_norm=qk_norm, qk_norm_kind="layer_no_bias")
    return uniform(c, block, tied=True, final_norm="layer_no_bias")


def cohere2(c: Config) -> Tree:
    """arXiv:2504.00698: a window in all layers but every fourth."""
    period = c.size("sliding_window_pattern", default=4)
    return windowed(
        c,
        lambda w: _block(c, w),
        lambda i: (i + 1) % period != 0,
        window=window(c, 4096),
        tied=True,
        final_norm="layer_no_bias",
    )


def _block(c: Config, window: int | None, **more: Any) -> Tree:
    if more.get("qk_norm") == "none":
        more = {}
    c.ignore("logit_scale")
    bias = c.flag("attention_bias", default=False)
    return {
        "norm": "layer_no_bias",
        "placement": "parallel",
        "attention": attention(c, bias=bias, window=window, **more),
        "ffn": glu(c),
    }
