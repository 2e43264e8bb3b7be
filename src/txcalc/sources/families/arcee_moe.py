"""Arcee's Trinity."""

from __future__ import annotations

from txcalc.sources.readers.common import attentions, glu, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import ffns
from txcalc.sources.readers.layers import by_layer, decoder, grid, kinds, n_layers


def afmoe(c: Config) -> Tree:
    """arXiv:2602.17004: gated attention, norms around both sub-layers, three windows to one."""
    count, first = n_layers(c), c.count("num_dense_layers", default=1)
    biased = c.flag("attention_bias", default=False)
    bias = ["q", "k", "v", "o"] if biased else False
    mixers = attentions(c, window(c, 1024), head_dim=128, bias=bias, qk_norm="head", gated=True)
    step = c.size("global_attn_every_n_layers", default=4)
    of = kinds(c, count, lambda i: "sliding" if (i + 1) % step else "full")
    ffn_of = by_layer(count, lambda i: "dense" if i < first else "moe")
    found = ffns(c, ffn_of, lambda: glu(c), lambda: _experts(c))
    blocks = grid(mixers, of, found, ffn_of, norm="rms", placement="sandwich")
    return decoder(c, *blocks, tied=False)


def _experts(c: Config) -> Tree:
    shared = c.count("num_shared_experts", default=2)
    return mixture(c, n_experts=["num_experts"], top_k_default=6, shared=shared, router_bias=True)
