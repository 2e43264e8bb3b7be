"""StarCoder2."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, plain, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform


def starcoder2(c: Config) -> Tree:
    """arXiv:2402.19173: LayerNorm, an FFN of two matrices, one flag for all biases."""
    c.ignore("mlp_type")
    bias = c.flag("use_bias", default=True)
    block = {
        "norm": "layer",
        "attention": attention(c, kv_default=2, bias=bias, window=window(c)),
        "ffn": plain(c, bias=bias),
    }
    return uniform(c, block, tied=True, final_norm="layer")
