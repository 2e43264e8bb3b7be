"""OLMo 1 to 3, dense."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, glu, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform, windowed


def olmo(c: Config) -> Tree:
    """arXiv:2402.00838: LayerNorm without weight or bias."""
    c.ignore("clip_qkv")
    bias = c.flag("attention_bias", default=False)
    block = {"norm": "none", "attention": attention(c, bias=bias), "ffn": glu(c)}
    return uniform(c, block, final_norm="none")


def olmo2(c: Config) -> Tree:
    """arXiv:2501.00656: each sub-layer's output is normed, and q and k over their whole width."""
    return uniform(c, _block(c, None))


def olmo3(c: Config) -> Tree:
    """arXiv:2512.13961: the same with a window in all layers but every fourth."""
    return windowed(c, lambda w: _block(c, w), lambda i: (i + 1) % 4 != 0, window=window(c, 4096))


def _block(c: Config, window: int | None) -> Tree:
    bias = c.flag("attention_bias", default=False)
    return {
        "norm": "rms",
        "placement": "output",
        "attention": attention(c, bias=bias, qk_norm="width", window=window),
        "ffn": glu(c),
    }
