"""LG's EXAONE, dense."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, even, glu, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers, windowed


def exaone(c: Config) -> Tree:
    """arXiv:2412.04862: Llama's shapes under names of its own."""
    even(c)
    bias = c.flag("attention_bias", default=False)
    block = {
        "norm": "rms",
        "attention": attention(c, kv_default=8, bias=bias),
        "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
    }
    layers = n_layers(c, "num_hidden_layers", "num_layers")
    return decoder(c, {"decoder": block}, layers, tied=False)


def exaone4(c: Config) -> Tree:
    """arXiv:2507.11407: outputs of sub-layers normed, q and k by head; windows but every fourth."""
    size, listed, ffn = window(c, 4096), c.has("layer_types"), glu(c)
    if listed or size is None:
        c.ignore("sliding_window_pattern")
    period = 4 if listed or size is None else c.size("sliding_window_pattern", default=4)
    return windowed(
        c,
        lambda w: {
            "norm": "rms",
            "placement": "output",
            "attention": attention(c, kv_default=32, qk_norm="head", window=w),
            "ffn": ffn,
        },
        lambda i: (i + 1) % period != 0,
        window=size,
    )
