"""Mixtures of experts whose layers alternate between windows and full attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from txcalc.sources.readers.common import attention, attentions, glu, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import experts, ffns, unknown_modules
from txcalc.sources.readers.layers import FFN, by_layer, decoder, grid, kinds, n_layers

_EXPERTS = ("num_experts", "num_local_experts")
_ALL = ["q", "k", "v", "o"]


def mimo_v2_flash(c: Config) -> Tree:
    """arXiv:2601.02780: twice the KV heads, and sinks, in windows.

    The original code's window is so many keys beside a query's own.
    """
    count, kv = n_layers(c), c.size("num_key_value_heads", default=4)
    bias = ["q", "k", "v"] if c.flag("attention_bias", default=False) else False
    before = c.maybe("sliding_window_size")
    slides = window(c, 129)
    bounds: Tree = {"window": slides} if before is None else {"window": before + 1, "kept": before}
    shape = {
        "head_dim": c.size("head_dim", default=192),
        "v_dim": c.size("v_head_dim", default=128),
        **({"bias": bias} if bias else {}),
    }
    heads = c.size("num_attention_heads")
    mixers = {
        "full": {"attention": _grouped(heads, kv) | shape},
        "sliding": {"attention": _grouped(heads, 2 * kv) | shape | bounds | {"sinks": True}},
    }
    mixer_of = kinds(c, count, lambda i: "sliding" if i and (i + 1) % 6 else "full")
    ffn_of = kinds(c, count, lambda i: "moe" if i else "dense", key="mlp_layer_types", known=FFN)
    _agrees(c, "hybrid_layer_pattern", [kind == "sliding" for kind in mixer_of])
    _agrees(c, "moe_layer_freq", [kind == "moe" for kind in ffn_of])
    _checked_windows(c, heads, kv)
    if c.count("n_shared_experts", default=0):
        c.unsupported("a shared expert in this type")
    c.ignore("sliding_window", "attention_chunk_size", "attention_value_scale", "swa_rope_theta")
    return _model(c, mixers, mixer_of, ffn_of, lambda: experts(c, shared=0, router_bias="buffer"))


def _grouped(heads: int, kv: int) -> Tree:
    if heads == kv:
        return {"kind": "mha", "n_heads": heads}
    return {"kind": "gqa", "n_heads": heads, "n_kv_heads": kv}


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
    ffn_of = kinds(c, count, lambda i: "moe" if i else "dense", key="mlp_layer_types", known=FFN)
    c.ignore(
        "moe_routed_scaling_factor", "moe_router_logit_softcapping", "swa_attention_sink_enabled"
    )
    moe = partial(
        mixture, c, n_experts=_EXPERTS, top_k_default=8, shared=1,
        d_shared=c.size("shared_expert_intermediate_size", default=512), router_bias=True,
    )  # fmt: skip
    return _model(c, mixers, mixer_of, ffn_of, moe)


def _laguna_attention(c: Config, heads: int, gate: Any, slides: int | None) -> Tree:
    kv = c.size("num_key_value_heads", default=8)
    part = _grouped(heads, kv) | {"head_dim": c.size("head_dim", default=128), "qk_norm": "head"}
    part |= {"gated": "head" if gate in (True, "per-head") else True}
    part |= {"bias": _ALL} if c.flag("attention_bias", default=False) else {}
    return part | ({} if slides is None else {"window": slides})


def beam(c: Config) -> Tree:
    """Beam: norms before and after, a gate of each channel, its bias of each head."""
    count = n_layers(c)
    mixers = _both(c, bias=_bias(c), kv_default=8, gated=True, slides=512)
    mixer_of = kinds(c, count, lambda i: "sliding" if (i + 1) % 6 and i + 1 < count else "full")
    ffn_of = kinds(
        c, count, lambda i: "moe" if i > 2 else "dense", key="mlp_layer_types", known=FFN
    )
    moe = partial(mixture, c, n_experts=_EXPERTS, top_k_default=8, router_bias="buffer")
    tensors = {"gate_bias": {"use": "bias", "dims": ["n_heads"]}}
    c.ignore("final_logit_softcapping")
    return _model(c, mixers, mixer_of, ffn_of, moe, placement="sandwich", tensors=tensors)


def flint(c: Config) -> Tree:
    """Flint: sinks in every layer, one wide shared expert without a gate."""
    count, dense = n_layers(c), c.sizes("mlp_only_layers")
    mixers = _both(c, bias=_bias(c), kv_default=4, sinks=True, slides=513)
    mixer_of = kinds(
        c, count, lambda i: "full" if i < 2 or i % 4 == 1 or i == count - 1 else "sliding"
    )
    step = c.size("decoder_sparse_step", default=1)
    dense = [0, 1] if dense is None else dense
    ffn_of = by_layer(count, lambda i: "dense" if i in dense or (i + 1) % step else "moe")
    shared = c.size("shared_expert_intermediate_size", default=1024)
    moe = partial(mixture, c, n_experts=_EXPERTS, top_k_default=6, shared=1, d_shared=shared)
    return _model(c, mixers, mixer_of, ffn_of, moe)


def hy_v3(c: Config) -> Tree:
    """Hy3: full attention with normalised queries and keys, one dense layer, a shared expert."""
    count, bias = n_layers(c), c.flag("mlp_bias", default=False)
    attend = attention(
        c, kv_default=8, head_dim=128, bias=c.flag("attention_bias", default=False), qk_norm="head"
    )
    ffn_of = kinds(c, count, lambda i: "moe" if i else "dense", key="mlp_layer_types", known=FFN)
    if not c.count("num_shared_experts", default=1):
        c.unsupported("a mixture without a shared expert in this type")
    moe = partial(
        experts,
        c,
        names=_EXPERTS,
        shared_names=("num_shared_experts",),
        biased=bias,
        router_bias="buffer",
    )
    c.ignore("router_scaling_factor", "enable_moe_fp32_combine")
    mixers = {"full": {"attention": attend}}
    return _model(c, mixers, ["full"] * count, ffn_of, moe, dense_bias=bias)


def _both(c: Config, *, slides: int, **more: Any) -> dict[str, Tree]:
    return attentions(c, window(c, slides), head_dim=128, qk_norm="head", **more)


def _bias(c: Config) -> list[str] | bool:
    return _ALL if c.flag("attention_bias", default=False) else False


def _model(
    c: Config,
    mixers: Mapping[str, Tree],
    mixer_of: Sequence[str],
    ffn_of: Sequence[str],
    moe: Callable[[], Tree],
    *,
    dense_bias: bool = False,
    **fields: Any,
) -> Tree:
    networks = ffns(c, ffn_of, lambda: glu(c, bias=dense_bias), moe)
    blocks, layers = grid(mixers, mixer_of, networks, ffn_of, norm="rms", **fields)
    return decoder(c, blocks, layers, tied=False, **unknown_modules(c))
