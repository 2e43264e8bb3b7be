"""IBM's Granite, and HyperCLOVA X, which scales its branches likewise."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.common import attention, even, glu, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform, windowed


def granite(c: Config) -> Tree:
    """Llama's shapes; its multipliers are numbers, not tensors."""
    return uniform(c, _block(c))


def granite_swa(c: Config) -> Tree:
    """A window in three of four layers, the first of them without; a sink for each head."""
    c.ignore("layer_rope_theta")
    return windowed(
        c,
        lambda w: _block(c, kv_default=4, window=w, sinks=True),
        lambda i: i % 4 != 0,
        window=window(c, 128),
        tied=True,
    )


def hyperclovax(c: Config) -> Tree:
    """The same with a norm after each sub-layer too, unless the file says otherwise."""
    even(c)
    post = c.flag("use_post_norm", default=True)
    return uniform(c, _block(c) | {"placement": "sandwich" if post else "pre"})


def _block(c: Config, **more: Any) -> Tree:
    c.ignore(
        "embedding_multiplier", "logits_scaling", "residual_multiplier", "attention_multiplier"
    )
    bias = c.flag("attention_bias", default=False)
    return {
        "norm": "rms",
        "attention": attention(c, bias=bias, **more),
        "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
    }
