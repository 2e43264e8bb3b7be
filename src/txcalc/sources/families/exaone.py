"""LG's EXAONE."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import kinds, n_layers
from txcalc.sources.readers.mixtures import listed_ffns, mixture, sparse, unknown_modules
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attentions, glu, window
from txcalc.sources.readers.refusals import refuse_uneven_heads


def exaone(c: Config) -> Tree:
    """arXiv:2412.04862: Llama's shapes under names of its own."""
    refuse_uneven_heads(c)
    layers = ("num_hidden_layers", "num_layers")
    return modern(c, kv_default=8, ffn=glu(c, bias="mlp_bias"), layers=layers)


def exaone4(c: Config) -> Tree:
    """arXiv:2507.11407: outputs of sub-layers normed, q and k by head; windows but every fourth."""
    keys, period = window(c, 4096), 4
    if c.has("layer_types") or keys is None:
        c.ignore("sliding_window_pattern")
    else:
        period = c.size("sliding_window_pattern", default=4)
    return modern(
        c, placement="output", kv_default=32, bias=False, qk_norm="head", window=keys,
        slides=lambda i: (i + 1) % period != 0,
    )  # fmt: skip


def exaone_moe(c: Config) -> Tree:
    """K-EXAONE: q and k normalised by head, windows in three layers of four."""
    count = n_layers(c)
    mixers = attentions(c, window(c, 4096), kv_default=32, bias=False, qk_norm="head")
    step = 1 if c.has("layer_types") else c.size("sliding_window_pattern", default=4)
    c.ignore("sliding_window_pattern")
    of = kinds(c, count, lambda i: "sliding" if (i + 1) % step else "full")
    moe = mixture(
        c, n_experts=["num_experts"], top_k_default=8, router_bias="buffer",
        shared=c.count("num_shared_experts", default=1),
    )  # fmt: skip
    first = c.count("first_k_dense_replace", default=1)
    return sparse(c, mixers, of, listed_ffns(c, count, first), lambda: moe) | unknown_modules(c)
