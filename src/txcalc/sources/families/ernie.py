"""Baidu's ERNIE 4.5."""

from __future__ import annotations

from functools import partial

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, n_layers
from txcalc.sources.readers.mixtures import mixture, sparse, unknown_modules
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, glu


def ernie4_5(c: Config) -> Tree:
    """One flag for all biases, 2 KV heads of 128."""
    bias = c.flag("use_bias", default=False)
    return modern(c, kv_default=2, head_dim=128, bias=bias, ffn=glu(c, bias=bias), tied=True)


def ernie4_5_moe(c: Config) -> Tree:
    """ERNIE 4.5 Technical Report, section 2: one flag for all biases, a span of expert layers."""
    count, bias = n_layers(c), c.flag("use_bias", default=False)
    step = c.size("moe_layer_interval", default=1)
    first = c.count("moe_layer_start_index", default=1)
    last = c.raw("moe_layer_end_index")
    last = count - 1 if last in (None, -1) else c.count("moe_layer_end_index")
    ffn_of = by_layer(
        count, lambda i: "moe" if first <= i <= last and (i + 1) % step == 0 else "dense"
    )
    moe = partial(
        mixture, c, n_experts=["moe_num_experts", "num_experts"],
        top_k=["moe_k", "num_experts_per_tok"], top_k_default=6,
        shared=c.count("moe_num_shared_experts", default=2), shared_bias=bias, router_bias=True,
    )  # fmt: skip
    mixers = {"full": {"attention": attention(c, kv_default=4, bias=bias)}}
    c.ignore("moe_capacity", "moe_use_aux_free", "moe_norm_min")
    dense = partial(glu, c, bias=bias)
    tree = sparse(c, mixers, ["full"] * count, ffn_of, moe, dense=dense, tied=True, head_bias=bias)
    return tree | unknown_modules(c)
