"""StableLM."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, derived_heads, even, glu
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform


def stablelm(c: Config) -> Tree:
    """arXiv:2402.17834: LayerNorm; q and k normed by head, biases and parallel branches by flag."""
    even(c)
    derived_heads(c)
    bias = ["q", "k", "v"] if c.flag("use_qkv_bias", default=False) else False
    normed: Tree = {}
    if c.flag("qk_layernorm", default=False):
        normed = {"qk_norm": "width", "qk_norm_kind": "layer_no_bias"}
    block = {
        "norm": "layer",
        "placement": "parallel" if c.flag("use_parallel_residual", default=False) else "pre",
        "attention": attention(c, kv_default=32, bias=bias, **normed),
        "ffn": glu(c),
    }
    return uniform(c, block, final_norm="layer")
