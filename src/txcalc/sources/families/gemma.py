"""Gemma 1 to 3: wide heads whose width is stated, embeddings tied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from txcalc.sources.readers.common import attention, glu, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform, windowed

HEAD_DIM = 256


def gemma(c: Config) -> Tree:
    """arXiv:2403.08295: Llama's shapes with heads of 256."""
    bias = c.flag("attention_bias", default=False)
    block = {
        "norm": "rms",
        "attention": attention(c, kv_default=16, head_dim=HEAD_DIM, bias=bias),
        "ffn": glu(c),
    }
    return uniform(c, block, tied=True)


def gemma2(c: Config) -> Tree:
    """arXiv:2408.00118: every other layer has a window; norms before and after each sub-layer."""
    return _alternating(c, lambda i: i % 2 == 0, placement="sandwich")


def gemma3(c: Config) -> Tree:
    """arXiv:2503.19786: five layers with a window to one without; q and k normed by head."""
    period = 6 if c.has("layer_types") else c.size("sliding_window_pattern", default=6)
    c.ignore("sliding_window_pattern", "_sliding_window_pattern")
    return _alternating(c, lambda i: (i + 1) % period != 0, placement="sandwich", qk_norm="head")


def vaultgemma(c: Config) -> Tree:
    """arXiv:2510.15001: Gemma 2 without the norms after its sub-layers."""
    return _alternating(c, lambda i: i % 2 == 0, placement="pre")


def _alternating(c: Config, slides: Callable[[int], bool], *, placement: str, **more: Any) -> Tree:
    bias, ffn = c.flag("attention_bias", default=False), glu(c)
    c.ignore_all("query_pre_attn_scalar", "final_logit", "attn_logit", "use_bidirectional")
    return windowed(
        c,
        lambda w: {
            "norm": "rms",
            "placement": placement,
            "attention": attention(c, kv_default=4, head_dim=HEAD_DIM, bias=bias, window=w, **more),
            "ffn": ffn,
        },
        slides,
        window=window(c, 4096),
        tied=True,
    )
