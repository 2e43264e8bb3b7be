"""ERNIE 4.5 with experts."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, glu, mixture
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import ffns, unknown_modules
from txcalc.sources.readers.layers import by_layer, decoder, grid, n_layers


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
    found = ffns(c, ffn_of, lambda: glu(c, bias=bias), lambda: _experts(c, bias=bias))
    mixers = {"full": {"attention": attention(c, kv_default=4, bias=bias)}}
    blocks = grid(mixers, ["full"] * count, found, ffn_of, norm="rms")
    c.ignore("moe_capacity", "moe_use_aux_free", "moe_norm_min")
    return decoder(c, *blocks, tied=True, head_bias=bias, **unknown_modules(c))


def _experts(c: Config, *, bias: bool) -> Tree:
    return mixture(
        c,
        n_experts=["moe_num_experts", "num_experts"],
        top_k=["moe_k", "num_experts_per_tok"],
        top_k_default=6,
        shared=c.count("moe_num_shared_experts", default=2),
        shared_bias=bias,
        router_bias=True,
    )
