"""Qwen 2 and 3."""

from __future__ import annotations

from typing import Any

from txcalc.sources.config import Config
from txcalc.sources.families.common import (
    Tree,
    attention,
    by_layer,
    decoder,
    glu,
    layer_type,
    n_layers,
)


def qwen2(c: Config) -> Tree:
    """arXiv:2407.10671: biases on q, k and v."""
    return _dense(c, bias=["q", "k", "v"])


def qwen3(c: Config) -> Tree:
    """arXiv:2505.09388: q and k normalised by head, heads of 128 unless the file says otherwise."""
    bias = c.flag("attention_bias", default=False)
    return _dense(c, bias=bias, head_dim=128, qk_norm="head")


def _dense(c: Config, *, bias: bool | list[str], **more: Any) -> Tree:
    layers = windowed(c, n_layers(c))
    windows = {"full": None, "sliding": c.maybe("sliding_window")}
    blocks = {
        name: {
            "norm": "rms",
            "attention": attention(c, kv_default=32, bias=bias, window=window, **more),
            "ffn": glu(c),
        }
        for name, window in windows.items()
    }
    return decoder(c, blocks, layers, tied=False)


def windowed(c: Config, count: int) -> list[str]:
    """Which layers have a window: those listed, else those from max_window_layers on."""
    start = c.count("max_window_layers", default=28)
    used = c.flag("use_sliding_window", default=False) and c.has("sliding_window")
    kinds = c.words("layer_types", length=count)
    if kinds is None:
        return by_layer(count, lambda i: "sliding" if used and i >= start else "full")
    return [layer_type(c, kind) for kind in kinds]
