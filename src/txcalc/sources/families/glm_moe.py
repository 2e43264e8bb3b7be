"""GLM-4.5 and what took its shape: dense layers first, shared experts, balanced routers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from txcalc.sources.readers.common import attention, attentions, glu, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import ffns, modules, unknown_modules
from txcalc.sources.readers.layers import FFN, by_layer, decoder, grid, kinds, n_layers

_QKV = ["q", "k", "v"]


def glm4_moe(c: Config) -> Tree:
    """arXiv:2508.06471 section 2.1: biases on q, k and v, and norms of q and k, by flag."""
    normed = c.flag("use_qk_norm", default=False)
    return _glm_4_5(c, biased=False, qk_norm="head" if normed else "none")


def glm4v_moe_text(c: Config) -> Tree:
    """arXiv:2507.01006: the text model of GLM-4.5V, without norms of q and k."""
    return _glm_4_5(c, biased=True)


def _glm_4_5(c: Config, *, biased: bool, **more: Any) -> Tree:
    bias = _QKV if c.flag("attention_bias", default=biased) else False
    attend = attention(c, kv_default=8, bias=bias, **more)
    return _glm(c, attend, _experts(c, shared=1))


def sarvam_moe(c: Config) -> Tree:
    """Sarvam-30B: GLM-4.5's shape under names of its own, queries and keys normalised."""
    attend = attention(
        c,
        kv_default=4,
        head_dim=64,
        bias=_QKV if c.flag("attention_bias", "use_qkv_bias", default=False) else False,
        qk_norm="head" if c.flag("use_qk_norm", default=True) else "none",
    )
    shares = ("n_shared_experts", "num_shared_experts")
    experts = mixture(
        c, n_experts=("n_routed_experts", "num_experts", "num_local_experts"), top_k_default=6,
        shared=c.count(*shares, default=1), router_bias="buffer",
    )  # fmt: skip
    return _glm(c, attend, experts)


def _glm(c: Config, attend: Tree, experts: Tree) -> Tree:
    """The first layers dense, and modules for further tokens."""
    count = n_layers(c)
    mixers = {"full": {"attention": attend}}
    tree = _decoder(c, mixers, ["full"] * count, experts, _dense_first(c, count, 1))
    return tree | modules(c, tree["blocks"], {"norm": "rms", "attention": attend, "ffn": experts})


def solar_open(c: Config) -> Tree:
    """Solar Open 100B: GLM's block with experts in every layer."""
    bias = _QKV if c.flag("attention_bias", default=False) else False
    attend = attention(c, kv_default=8, head_dim=128, bias=bias)
    count = n_layers(c)
    mixers = {"full": {"attention": attend}}
    return _decoder(c, mixers, ["full"] * count, _experts(c, shared=1), ["moe"] * count)


def dots1(c: Config) -> Tree:
    """arXiv:2506.05767 section 2: q and k normalised by head, windows from max_window_layers on."""
    count, bias = n_layers(c), c.flag("attention_bias", default=False)
    mixers = attentions(c, window(c, 4096), kv_default=32, bias=bias, qk_norm="head")
    start = c.count("max_window_layers", default=62)
    of = kinds(c, count, lambda i: "sliding" if i >= start else "full")
    c.ignore("moe_layer_freq")
    return _decoder(c, mixers, of, _experts(c, top_k=None), _dense_first(c, count, 0))


def exaone_moe(c: Config) -> Tree:
    """K-EXAONE: q and k normalised by head, windows in three layers of four."""
    count = n_layers(c)
    mixers = attentions(c, window(c, 4096), kv_default=32, qk_norm="head")
    step = 1 if c.has("layer_types") else c.size("sliding_window_pattern", default=4)
    c.ignore("sliding_window_pattern")
    of = kinds(c, count, lambda i: "sliding" if (i + 1) % step else "full")
    experts = _experts(c, ["num_experts"], "num_shared_experts", shared=1)
    first = _dense_first(c, count, 1)
    ffn_of = kinds(c, count, first.__getitem__, key="mlp_layer_types", known=FFN)
    return _decoder(c, mixers, of, experts, ffn_of) | unknown_modules(c)


def _experts(
    c: Config,
    names: Sequence[str] = ("n_routed_experts", "num_local_experts"),
    shares: str = "n_shared_experts",
    *,
    shared: int | None = None,
    top_k: int | None = 8,
) -> Tree:
    """Experts balanced by a buffer; ``shared`` and ``top_k`` are the defaults that a type has."""
    n_shared = c.count(shares) if shared is None else c.count(shares, default=shared)
    return mixture(
        c, n_experts=names, top_k_default=top_k, needs_top_k=top_k is not None, shared=n_shared,
        router_bias="buffer",
    )  # fmt: skip


def _dense_first(c: Config, count: int, default: int) -> list[str]:
    first = c.count("first_k_dense_replace", default=default)
    return by_layer(count, lambda i: "dense" if i < first else "moe")


def _decoder(
    c: Config, mixers: dict[str, Tree], of: list[str], experts: Tree, ffn_of: list[str]
) -> Tree:
    found = ffns(c, ffn_of, lambda: glu(c), lambda: experts)
    return decoder(c, *grid(mixers, of, found, ffn_of, norm="rms"), tied=False)
