"""Adept's Persimmon, which Fuyu reads its images with."""

from __future__ import annotations

from txcalc.sources.readers.common import derived_heads, even, given, plain
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform


def persimmon(c: Config) -> Tree:
    """LayerNorm, biases everywhere, q and k normed by head unless the file says otherwise."""
    even(c)
    derived_heads(c)
    normed = c.flag("qk_layernorm", default=True)
    part = {"kind": "mha", "n_heads": c.size("num_attention_heads"), "bias": True} | given(
        qk_norm="head" if normed else None, qk_norm_kind="layer" if normed else None
    )
    block = {"norm": "layer", "attention": part, "ffn": plain(c, bias=True)}
    return uniform(c, block, final_norm="layer")
