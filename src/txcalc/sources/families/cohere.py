"""Cohere's Command models: attention and FFN side by side behind one norm."""

from __future__ import annotations

from functools import partial

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import kinds, n_layers
from txcalc.sources.readers.mixtures import listed_ffns, mixture, sparse
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attentions, glu, window

_NORM = "layer_no_bias"


def cohere(c: Config) -> Tree:
    """Command R: LayerNorm without bias; q and k normed by flag."""
    normed = c.flag("use_qk_norm", default=False)
    qk_norm: Tree = {"qk_norm": "width", "qk_norm_kind": _NORM} if normed else {}
    return modern(c, norm=_NORM, placement="parallel", tied=True, **qk_norm)


def cohere2(c: Config) -> Tree:
    """arXiv:2504.00698: a window in all layers but every fourth."""
    period, keys = c.size("sliding_window_pattern", default=4), window(c, 4096)
    return modern(
        c, norm=_NORM, placement="parallel", window=keys, slides=lambda i: (i + 1) % period != 0,
        tied=True,
    )  # fmt: skip


def cohere2_moe(c: Config) -> Tree:
    """Command A with experts; three windows to one layer without."""
    count = n_layers(c)
    norm = "rms" if c.has("rms_norm_eps") else _NORM
    mixers = attentions(c, window(c, 4096), head_dim=128)
    first = c.count("first_k_dense_replace", default=0)
    narrow = "prefix_dense_intermediate_size"
    width = narrow if c.has(narrow) else "intermediate_size"
    shared = c.count("num_shared_experts", default=0)
    moe = partial(
        mixture, c, n_experts=["num_experts"], top_k_default=2, width=["intermediate_size"],
        shared=shared,
    )  # fmt: skip
    c.ignore(narrow)
    return sparse(
        c, mixers, _windows(c, count, first), listed_ffns(c, count, first), moe,
        dense=lambda: glu(c, width=width), norm=norm, placement="parallel", tied=True,
    )  # fmt: skip


def _windows(c: Config, count: int, first: int) -> list[str]:
    """The first dense layers have a period of their own."""
    before = c.size("prefix_dense_sliding_window_pattern", default=1)
    after = c.size("sliding_window_pattern", default=4)

    def rule(i: int) -> str:
        within = (i + 1) % before if i < first else (i - first + 1) % after
        return "sliding" if within else "full"

    return kinds(c, count, rule)
