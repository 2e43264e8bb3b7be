"""Command A with experts."""

from __future__ import annotations

from txcalc.sources.readers.common import attentions, glu, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import ffns
from txcalc.sources.readers.layers import FFN, by_layer, decoder, grid, kinds, n_layers


def cohere2_moe(c: Config) -> Tree:
    """Attention and FFN side by side behind one norm; three windows to one layer without."""
    count, bias = n_layers(c), c.flag("attention_bias", default=False)
    norm = "rms" if c.has("rms_norm_eps") else "layer_no_bias"
    mixers = attentions(c, window(c, 4096), head_dim=128, bias=bias)
    first = c.count("first_k_dense_replace", default=0)
    dense = by_layer(count, lambda i: "dense" if i < first else "moe")
    ffn_of = kinds(c, count, dense.__getitem__, key="mlp_layer_types", known=FFN)
    narrow = "prefix_dense_intermediate_size"
    width = narrow if c.has(narrow) else "intermediate_size"
    found = ffns(c, ffn_of, lambda: glu(c, width=width), lambda: _experts(c))
    c.ignore(narrow, "num_shared_experts")
    blocks = grid(mixers, _windows(c, count, first), found, ffn_of, norm=norm, placement="parallel")
    return decoder(c, *blocks, tied=True, final_norm=norm)


def _experts(c: Config) -> Tree:
    shared = c.count("num_shared_experts", default=0)
    names, width = ["num_experts"], ["intermediate_size"]
    return mixture(c, n_experts=names, top_k_default=2, width=width, shared=shared)


def _windows(c: Config, count: int, first: int) -> list[str]:
    """The first dense layers have a period of their own."""
    before = c.size("prefix_dense_sliding_window_pattern", default=1)
    after = c.size("sliding_window_pattern", default=4)

    def rule(i: int) -> str:
        within = (i + 1) % before if i < first else (i - first + 1) % after
        return "sliding" if within else "full"

    return kinds(c, count, rule)
