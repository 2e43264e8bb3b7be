"""Moonshot's Kimi, and Ling 3: Kimi delta attention, and latent attention every few layers."""

from __future__ import annotations

from functools import partial

from txcalc.sources.families.composite import text_model
from txcalc.sources.families.deepseek import deepseek_v3
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import latent
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import EXPERTS, dense_first, ffns, routed, unknown_modules
from txcalc.sources.readers.parts import glu
from txcalc.sources.readers.state_spaces import kimi_delta
from txcalc.sources.readers.trees import untied

_KINDS = {"full_attention": "full", "linear_attention": "linear"}
_TOP_K = ("num_experts_per_token", "num_experts_per_tok")
_LIMIT = ("model_max_length", "max_position_embeddings")


def kimi_k25(c: Config) -> Tree:
    """Kimi-K2.5: DeepSeek-V3 beside a vision tower; its head is tied unless the file says not."""
    if not c.has("tie_word_embeddings") and c.needed("text_config").has("tie_word_embeddings"):
        c.refuse("tie_word_embeddings", "missing, but it is needed beside text_config's")
    c.ignore("projection_hidden_size", "ignore_index", "use_unified_vision_chunk")
    c.ignore("video_placeholder")
    return text_model(c, deepseek_v3, "the vision tower", tied=True)


def kimi_linear(c: Config) -> Tree:
    """arXiv:2510.26692: three linear layers to a latent one, which has no positions."""
    linear, count = c.inner("linear_attn_config"), n_layers(c)
    mixer_of = kinds(c, count, lambda i: "full" if i and i % 4 == 0 else "linear", known=_KINDS)
    if linear is not None and not c.has("layer_types"):
        mixer_of = _listed(linear, count) or mixer_of
    return _hybrid(c, kimi_delta(c, linear, heads=32), latent(c), mixer_of, dense=1)


def bailing_hybrid(c: Config) -> Tree:
    """Ling 3: gates of full rank, and a gate of each head of the latent layers."""
    c.ignore("kda_safe_gate")
    if c.has("group_norm_size") or "BailingMoe" in c.class_:
        c.unsupported("the lightning attention of this type's earlier models")
    heads = c.size("num_attention_heads")
    width = c.size("head_dim", default=128)
    taps = c.size("short_conv_kernel_size", default=4)
    delta = {
        "kind": "kda",
        "n_heads": c.size("linear_num_heads", default=heads),
        "head_dim": c.size("linear_head_dim", default=width),
        "d_conv": c.size("linear_conv_kernel_dim", default=taps),
    }
    every = c.size("layer_group_size", default=6)
    mixer_of = kinds(
        c, n_layers(c), lambda i: "linear" if (i + 1) % every else "full", known=_KINDS
    )
    return _hybrid(c, delta, latent(c, gate="head"), mixer_of, dense=2)


def _hybrid(c: Config, delta: Tree, attend: Tree, mixer_of: list[str], *, dense: int) -> Tree:
    """A decoder of both; neither type ties its head, whatever the file says."""
    ffn_of = dense_first(c, len(mixer_of), dense, listed=True)
    moe = partial(routed, c, n_experts=EXPERTS, top_k=_TOP_K, router_bias="buffer")
    c.ignore("num_expert_group", "mla_use_nope")
    networks = ffns(c, ffn_of, lambda: glu(c), moe)
    mixers = {"linear": {"ssm": delta}, "full": {"attention": attend}}
    blocks, layers = grid(mixers, mixer_of, networks, ffn_of, norm="rms")
    return untied(decoder(c, blocks, layers, tied=False, limit=_LIMIT, **unknown_modules(c)))


def _listed(linear: Config, count: int) -> list[str] | None:
    """Layers by their numbers from 1, where both lists are there."""
    full, delta = linear.sizes("full_attn_layers"), linear.sizes("kda_layers")
    if full is None or delta is None:
        return None
    if sorted([*full, *delta]) != list(range(1, count + 1)):
        linear.refuse("kda_layers", f"with full_attn_layers, not each of {count} layers once")
    return ["full" if i in full else "linear" for i in range(1, count + 1)]
