"""dots3-note: latent attention in windows and with indexers."""

from __future__ import annotations

from txcalc.sources.readers.common import given, glu, mixture, text_model
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import EXPERTS, dense_first, ffns, indexer, latent
from txcalc.sources.readers.layers import FFN, decoder, grid, kinds, n_layers

_KINDS = {
    "full_attention": "full",
    "sliding_attention": "sliding",
    "indexed_attention": "indexed",
}
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
    networks = ffns(c, ffn_of, lambda: glu(c), lambda: _dots3_experts(c))
    c.ignore("shared_experts_intermediate_size", "moe_shared_expert_intermediate_size")
    c.ignore("swa_num_key_value_heads", "swa_head_dim", *(f"swa_{key}" for key in _FIELDS))
    blocks, layers = grid(mixers, mixer_of, networks, ffn_of, norm="rms")
    return decoder(c, blocks, layers, tied=False)


def _dots3_kinds(c: Config, count: int) -> list[str]:
    """Layers as listed, else full ones first and then every fourth; indexed where they are full."""
    sparse = c.flag("use_dsa", default=True) if c.has("use_dsa") else None
    if sparse is None and not c.has("per_layer_config"):
        sparse = True
    slides = c.flag("use_sliding_window", default=True)
    listed = kinds(
        c, count, lambda i: "full" if not slides or i < 2 or i % 4 == 1 else "sliding", known=_KINDS
    )
    if sparse is None and c.has("layer_types"):
        return listed
    full = "full" if sparse is False else "indexed"
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
    found = {key: c.size(f"swa_{key}", default=size) for key, size in _SLIDING.items()}
    rotary = c.size("swa_head_dim", default=256) - found["qk_nope_head_dim"]
    found["qk_rope_head_dim"] = c.size("swa_qk_rope_head_dim", default=max(rotary, 1))
    return {_FIELDS[key]: size for key, size in found.items()}


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
        c, n_experts=EXPERTS, shared=c.size("n_shared_experts", default=1),
        d_shared=c.size(*names, default=1536), router_bias="buffer",
    )  # fmt: skip
