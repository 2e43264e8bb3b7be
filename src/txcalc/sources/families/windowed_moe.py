"""Mixtures of experts whose layers alternate between windows and full attention."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import (
    LOCAL,
    dense_before,
    listed_ffns,
    mixture,
    routed,
    sparse,
    unknown_modules,
)
from txcalc.sources.readers.parts import attentions, biased, mha, window
from txcalc.sources.readers.trees import tensor


def afmoe(c: Config) -> Tree:
    """Arcee's Trinity (arXiv:2602.17004): gated attention, norms around both sub-layers."""
    count, first = n_layers(c), c.count("num_dense_layers", default=1)
    mixers = attentions(
        c, window(c, 1024), head_dim=128, bias=biased(c, "qkvo", default=False), qk_norm="head",
        gated=True,
    )  # fmt: skip
    step = c.size("global_attn_every_n_layers", default=4)
    of = kinds(c, count, lambda i: "sliding" if (i + 1) % step else "full")
    shared = c.count("num_shared_experts", default=2)
    moe = partial(
        mixture, c, n_experts=["num_experts"], top_k_default=6, shared=shared, router_bias=True
    )
    return sparse(c, mixers, of, dense_before(count, first), moe, placement="sandwich")


def beam(c: Config) -> Tree:
    """Beam: norms before and after, a gate of each channel, its bias of each head."""
    count = n_layers(c)
    mixers = attentions(
        c, window(c, 512), kv_default=8, head_dim=128, bias=biased(c, "qkvo", default=False),
        qk_norm="head", gated=True,
    )  # fmt: skip
    mixer_of = kinds(c, count, lambda i: "sliding" if (i + 1) % 6 and i + 1 < count else "full")
    moe = partial(mixture, c, top_k_default=8, router_bias="buffer")
    tree = sparse(
        c, mixers, mixer_of, listed_ffns(c, count, 3), moe, placement="sandwich",
        tensors={"gate_bias": tensor("bias", "n_heads")},
    )  # fmt: skip
    return tree | unknown_modules(c)


def flint(c: Config) -> Tree:
    """Flint: sinks in every layer, one wide shared expert without a gate."""
    count, listed = n_layers(c), c.sizes("mlp_only_layers")
    mixers = attentions(
        c, window(c, 513), kv_default=4, head_dim=128, bias=biased(c, "qkvo", default=False),
        qk_norm="head", sinks=True,
    )  # fmt: skip
    mixer_of = kinds(
        c, count, lambda i: "full" if i < 2 or i % 4 == 1 or i == count - 1 else "sliding"
    )
    step = c.size("decoder_sparse_step", default=1)
    dense = (0, 1) if listed is None else listed
    ffn_of = by_layer(count, lambda i: "dense" if i in dense or (i + 1) % step else "moe")
    d_shared = c.size("shared_expert_intermediate_size", default=1024)
    moe = partial(mixture, c, top_k_default=6, shared=1, d_shared=d_shared)
    return sparse(c, mixers, mixer_of, ffn_of, moe) | unknown_modules(c)


def gpt_oss(c: Config) -> Tree:
    """arXiv:2508.10925 section 2: sinks, a window in every other layer, and biases everywhere."""
    count, bias = n_layers(c), c.flag("attention_bias", default=True)
    mixers = attentions(c, window(c, 128), kv_default=8, head_dim=64, bias=bias, sinks=True)
    moe = mixture(
        c, n_experts=LOCAL, top_k=["num_experts_per_tok", "experts_per_token"], top_k_default=4,
        width=["intermediate_size"], bias=True, router_bias=True,
    )  # fmt: skip
    of = kinds(c, count, lambda i: "full" if i % 2 else "sliding")
    return decoder(c, *grid(mixers, of, {"moe": moe}, ["moe"] * count, norm="rms"), tied=False)


def laguna(c: Config) -> Tree:
    """Laguna: gates by head or by channel, query heads by layer, a bias that picks experts."""
    count = n_layers(c)
    default = [c.size("num_attention_heads")] * count
    heads = c.sizes("num_attention_heads_per_layer", length=count) or default
    gate = c.raw("gating") if c.has("gating") else True
    if gate not in (True, False, "per-head", "per-element"):
        c.refuse("gating", f"{gate!r} is not modelled")
    if c.flag("moe_apply_router_weight_on_input", default=False):
        c.unsupported("moe_apply_router_weight_on_input")
    windows = {"full": None, "sliding": window(c, 512)}
    mixers, mixer_of = {}, []
    for i, kind in enumerate(kinds(c, count, lambda _: "full")):
        name = kind if heads[i] == heads[0] else f"{kind}_{heads[i]}"
        mixers[name] = {"attention": _laguna_attention(c, heads[i], gate, windows[kind])}
        mixer_of.append(name)
    c.ignore("swa_attention_sink_enabled")
    d_shared = c.size("shared_expert_intermediate_size", default=512)
    moe = partial(mixture, c, top_k_default=8, shared=1, d_shared=d_shared, router_bias=True)
    return sparse(c, mixers, mixer_of, listed_ffns(c, count, 1), moe) | unknown_modules(c)


def _laguna_attention(c: Config, heads: int, gate: Any, slides: int | None) -> Tree:
    return mha(
        heads, c.size("num_key_value_heads", default=8),
        head_dim=c.size("head_dim", default=128), qk_norm="head",
        gated="head" if gate in (True, "per-head") else True,
        bias=biased(c, "qkvo", default=False), window=slides,
    )  # fmt: skip


def mimo_v2_flash(c: Config) -> Tree:
    """arXiv:2601.02780: twice the KV heads, and sinks, in windows.

    The original code's window is so many keys beside a query's own.
    """
    count, kv = n_layers(c), c.size("num_key_value_heads", default=4)
    before = c.maybe("sliding_window_size")
    slides = window(c, 129)
    bounds: Tree = {"window": slides} if before is None else {"window": before + 1, "kept": before}
    shape = {
        "head_dim": c.size("head_dim", default=192),
        "v_dim": c.size("v_head_dim", default=128),
        "bias": biased(c, "qkv", default=False),
    }
    heads = c.size("num_attention_heads")
    mixers = {
        "full": {"attention": mha(heads, kv, **shape)},
        "sliding": {"attention": mha(heads, 2 * kv, **shape) | bounds | {"sinks": True}},
    }
    mixer_of = kinds(c, count, lambda i: "sliding" if i and (i + 1) % 6 else "full")
    ffn_of = listed_ffns(c, count, 1)
    _agrees(c, "hybrid_layer_pattern", [kind == "sliding" for kind in mixer_of])
    _agrees(c, "moe_layer_freq", [kind == "moe" for kind in ffn_of])
    _checked_windows(c, heads, kv)
    if c.count("n_shared_experts", default=0):
        c.unsupported("a shared expert in this type")
    c.ignore("sliding_window", "attention_chunk_size")
    moe = partial(routed, c, shared=0, router_bias="buffer")
    return sparse(c, mixers, mixer_of, ffn_of, moe) | unknown_modules(c)


def _agrees(c: Config, key: str, expected: Sequence[bool]) -> None:
    """Refuses a list of the original code that the type's own rule contradicts."""
    listed = c.flags(key)
    if listed is not None and listed[: len(expected)] != list(expected):
        c.refuse(key, "it contradicts the layers that this type has")


def _checked_windows(c: Config, heads: int, kv: int) -> None:
    """Refuses windows of a shape that the type does not have."""
    wanted = {
        "swa_num_attention_heads": heads,
        "swa_num_key_value_heads": 2 * kv,
        "swa_head_dim": c.size("head_dim", default=192),
        "swa_v_head_dim": c.size("v_head_dim", default=128),
    }
    for key, size in wanted.items():
        if c.size(key, default=size) != size:
            c.refuse(key, f"{c.size(key)} is not modelled: this type has {size}")
    if not c.flag("add_swa_attention_sink_bias", default=True):
        c.unsupported("a window without sinks in this type")
    if c.flag("add_full_attention_sink_bias", default=False):
        c.unsupported("a sink in full attention in this type")
