"""gpt-oss."""

from __future__ import annotations

from txcalc.sources.readers.common import attentions, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers


def gpt_oss(c: Config) -> Tree:
    """arXiv:2508.10925 section 2: sinks, a window in every other layer, and biases everywhere."""
    count, bias = n_layers(c), c.flag("attention_bias", default=True)
    mixers = attentions(c, window(c, 128), kv_default=8, head_dim=64, bias=bias, sinks=True)
    experts = mixture(
        c,
        n_experts=["num_local_experts", "num_experts"],
        top_k=["num_experts_per_tok", "experts_per_token"],
        top_k_default=4,
        width=["intermediate_size"],
        bias=True,
        router_bias=True,
    )
    of = kinds(c, count, lambda i: "full" if i % 2 else "sliding")
    blocks = grid(mixers, of, {"moe": experts}, ["moe"] * count, norm="rms")
    return decoder(c, *blocks, tied=False)
