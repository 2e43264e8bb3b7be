"""Aria."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, mixture
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers


def aria_text(c: Config) -> Tree:
    """arXiv:2410.05993: Llama's block, routed and shared experts of one width."""
    shared, bias = c.count("moe_num_shared_experts", default=2), c.flag("mlp_bias", default=False)
    if bias and not shared:
        c.unsupported("mlp_bias without shared experts")
    experts = mixture(
        c,
        n_experts=["moe_num_experts"],
        top_k=["moe_topk"],
        top_k_default=2,
        width=["intermediate_size"],
        shared=shared,
        shared_bias=bias,
    )
    attend = attention(c, bias=c.flag("attention_bias", default=False))
    block = {"norm": "rms", "attention": attend, "ffn": experts}
    return decoder(c, {"moe": block}, n_layers(c), tied=False)
