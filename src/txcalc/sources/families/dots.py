"""dots1, and dots3-note: latent attention in windows and with indexers."""

from __future__ import annotations

from functools import partial

from txcalc.sources.families.composite import text_model
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import indexer, latent
from txcalc.sources.readers.layers import kinds, n_layers
from txcalc.sources.readers.mixtures import FFN, ROUTED, dense_before, dense_first, mixture, sparse
from txcalc.sources.readers.parts import attentions, window
from txcalc.sources.readers.trees import given

_KINDS = {"full_attention": "full", "sliding_attention": "sliding", "indexed_attention": "indexed"}
_FIELDS = {
    "num_attention_heads": "n_heads",
    "q_lora_rank": "q_rank",
    "kv_lora_rank": "kv_rank",
    "qk_nope_head_dim": "nope_dim",
    "qk_rope_head_dim": "rope_dim",
    "v_head_dim": "v_dim",
}
"""Keys that a layer of dots3-note may have otherwise than the rest."""

_SLIDING = {
    "num_attention_heads": 64,
    "q_lora_rank": 1024,
    "kv_lora_rank": 1024,
    "qk_nope_head_dim": 192,
    "v_head_dim": 128,
}
"""What its sliding layers have by default."""


def dots1(c: Config) -> Tree:
    """arXiv:2506.05767 section 2: q and k normalised by head, windows from max_window_layers on."""
    count, start = n_layers(c), c.count("max_window_layers", default=62)
    mixers = attentions(c, window(c, 4096), kv_default=32, qk_norm="head")
    of = kinds(c, count, lambda i: "sliding" if i >= start else "full")
    c.ignore("moe_layer_freq")
    moe = mixture(
        c, n_experts=("n_routed_experts", "num_local_experts"), needs_top_k=False,
        shared=c.count("n_shared_experts"), router_bias="buffer",
    )  # fmt: skip
    ffn_of = dense_before(count, c.count("first_k_dense_replace", default=0))
    return sparse(c, mixers, of, ffn_of, lambda: moe)


def dots3_note(c: Config) -> Tree:
    """dots3-note's text model, in an object of its own or at the top."""
    towers = "the vision and audio towers"
    if c.has("text_config"):
        tied = None if c.task == "causal" else False
        return text_model(c, dots3_text, towers, tied=tied)
    c.ignore("vision_config", "audio_config")
    return dots3_text(c) | {"scope": "text", "notes": [f"left out: {towers}"]}


def dots3_text(c: Config) -> Tree:
    """Latent attention with a gate of each head: indexers, and windows of other sizes."""
    count, per_layer = n_layers(c), c.inner("per_layer_config")
    base = latent(c, q_default=1024, gate="head", rope_norm=True)
    index = indexer(c, heads=64)
    slides = c.maybe("sliding_window") or c.size("sliding_window_size", default=512)
    more: dict[str, Tree] = {
        "full": {},
        "sliding": {"window": slides},
        "indexed": {"indexer": index},
    }
    mixers: dict[str, Tree] = {}
    mixer_of = []
    for i, kind in enumerate(_dots3_kinds(c, count)):
        part = base | _widths(c, per_layer, i, kind) | more[kind]
        first = next((name for name, m in mixers.items() if m["attention"] == part), None)
        name = first or (f"{kind}_{i}" if kind in mixers else kind)
        mixers[name] = {"attention": part}
        mixer_of.append(name)
    c.ignore("mlp_bias")
    ffn_of = _dots3_ffns(c, count)
    c.ignore("shared_experts_intermediate_size", "moe_shared_expert_intermediate_size")
    c.ignore("swa_num_key_value_heads", "swa_head_dim", *(f"swa_{key}" for key in _FIELDS))
    return sparse(c, mixers, mixer_of, ffn_of, partial(_dots3_experts, c))


def _dots3_kinds(c: Config, count: int) -> list[str]:
    """Layers as listed, else full ones first and then every fourth; indexed where they are full."""
    indexed = c.flag("use_dsa", default=True) if c.has("use_dsa") else None
    if indexed is None and not c.has("per_layer_config"):
        indexed = True
    slides = c.flag("use_sliding_window", default=True)
    listed = kinds(
        c, count, lambda i: "full" if not slides or i < 2 or i % 4 == 1 else "sliding", known=_KINDS
    )
    if indexed is None and c.has("layer_types"):
        return listed
    full = "full" if indexed is False else "indexed"
    return [kind if kind == "sliding" else full for kind in listed]


def _widths(c: Config, per_layer: Config | None, i: int, kind: str) -> Tree:
    """What one layer has otherwise than the rest."""
    if per_layer is not None:
        layer = per_layer.inner(str(i), f"{i:02d}", f"{i:03d}")
        if layer is None:
            return {}
        layer.ignore("num_key_value_heads", "head_dim")
        own = given(**{field: layer.maybe(key) for key, field in _FIELDS.items()})
        if unknown := layer.unread():
            c.unsupported(f"{unknown[0]}, a key of one layer alone,")
        return own
    if kind != "sliding":
        return {}
    sizes = {key: c.size(f"swa_{key}", default=size) for key, size in _SLIDING.items()}
    rotary = c.size("swa_head_dim", default=256) - sizes["qk_nope_head_dim"]
    sizes["qk_rope_head_dim"] = c.size("swa_qk_rope_head_dim", default=max(rotary, 1))
    return {_FIELDS[key]: size for key, size in sizes.items()}


def _dots3_ffns(c: Config, count: int) -> list[str]:
    """Mixtures from a layer on, in those that a list says or every so many."""
    if not isinstance(c.raw("moe_layer_freq"), list):
        return dense_first(c, count, 1, listed=True)
    first, every = c.count("first_k_dense_replace", default=1), c.flags("moe_layer_freq") or []
    if len(every) < count:
        c.refuse("moe_layer_freq", f"{len(every)} entries for {count} layers")
    return kinds(
        c, count, lambda i: "moe" if i >= first and every[i] else "dense", key="mlp_layer_types",
        known=FFN,
    )  # fmt: skip


def _dots3_experts(c: Config) -> Tree:
    names = ("moe_shared_expert_intermediate_size", "shared_experts_intermediate_size")
    return mixture(
        c, n_experts=ROUTED, shared=c.size("n_shared_experts", default=1),
        d_shared=c.size(*names, default=1536), router_bias="buffer",
    )  # fmt: skip
