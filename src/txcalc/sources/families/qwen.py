"""Qwen 2 and 3."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.common import attention, derived_heads, even, glu, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform, windowed


def qwen2(c: Config) -> Tree:
    """arXiv:2407.10671: biases on q, k and v."""
    return _dense(c, bias=["q", "k", "v"])


def qwen2_vl(c: Config) -> Tree:
    """arXiv:2409.12191: the text model of Qwen2-VL and 2.5-VL."""
    even(c)
    derived_heads(c)
    return _dense(c, bias=["q", "k", "v"], kv_default=8, start=80)


def qwen2_5_omni(c: Config) -> Tree:
    """arXiv:2503.20215: the text model of Qwen2.5-Omni's thinker."""
    return _dense(c, bias=["q", "k", "v"], kv_default=4, size=32768, tied=True)


def qwen3(c: Config) -> Tree:
    """arXiv:2505.09388: q and k normalised by head, heads of 128 unless the file says otherwise."""
    bias = c.flag("attention_bias", default=False)
    return _dense(c, bias=bias, head_dim=128, qk_norm="head")


def qwen3_vl(c: Config) -> Tree:
    """The text model of Qwen3-VL, which has no windows."""
    bias = c.flag("attention_bias", default=False)
    part = attention(c, kv_default=32, bias=bias, head_dim=128, qk_norm="head")
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c)})


def _dense(
    c: Config,
    *,
    bias: bool | list[str],
    kv_default: int = 32,
    start: int = 28,
    size: int = 4096,
    tied: bool = False,
    **more: Any,
) -> Tree:
    """Windows in the layers from max_window_layers on, where use_sliding_window is true."""
    start = c.count("max_window_layers", default=start)
    found, used = window(c, size), c.flag("use_sliding_window", default=False)
    ffn = glu(c)
    return windowed(
        c,
        lambda w: {
            "norm": "rms",
            "attention": attention(c, kv_default=kv_default, bias=bias, window=w, **more),
            "ffn": ffn,
        },
        lambda i: i >= start,
        window=found if used else None,
        tied=tied,
    )
