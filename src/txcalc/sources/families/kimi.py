"""Kimi Linear and Ling 3: Kimi delta attention, and latent attention every few layers."""

from __future__ import annotations

from txcalc.sources.readers.common import glu, untied
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import dense_first, experts, ffns, latent, unknown_modules
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers

_KINDS = {"full_attention": "full", "linear_attention": "linear"}
_TOP_K = ("num_experts_per_token", "num_experts_per_tok")
_LIMIT = ("model_max_length", "max_position_embeddings")
_EXPERTS = ("num_experts", "num_local_experts")


def kimi_linear(c: Config) -> Tree:
    """arXiv:2510.26692: three linear layers to a latent one, which has no positions."""
    linear, count = c.inner("linear_attn_config"), n_layers(c)
    mixer_of = kinds(c, count, lambda i: "full" if i and i % 4 == 0 else "linear", known=_KINDS)
    if linear is not None and not c.has("layer_types"):
        mixer_of = _listed(linear, count) or mixer_of
    return _hybrid(c, kimi_delta(c, linear, heads=32), latent(c), mixer_of, dense=1)


def kimi_delta(c: Config, linear: Config | None, *, heads: int) -> Tree:
    """Linear layers with narrow gates by keys at the top level, or by an object's, which go first.

    ``heads`` is the type's default.
    """
    keys = {
        "n_heads": ("linear_num_heads", "num_heads", heads),
        "head_dim": ("linear_head_dim", "head_dim", 128),
        "d_conv": ("linear_conv_kernel_dim", "short_conv_kernel_size", 4),
    }
    part: Tree = {"kind": "kda"}
    for field, (key, inside, default) in keys.items():
        own = c.size(key, default=default)
        part[field] = own if linear is None else linear.size(inside, default=own)
    if linear is not None:
        linear.ignore("full_attn_layers", "kda_layers", "gate_lower_bound", "safe_gate")
    return part | {"gate_rank": part["head_dim"]}


def bailing_hybrid(c: Config) -> Tree:
    """Ling 3: gates of full rank, and a gate of each head of the latent layers."""
    c.ignore("kda_safe_gate", "kda_lower_bound", "mtp_loss_scaling_factor")
    if c.has("group_norm_size") or any(
        "BailingMoe" in str(x) for x in c.raw("architectures") or []
    ):
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

    def moe() -> Tree:
        return experts(c, names=_EXPERTS, top_k=_TOP_K, router_bias="buffer")

    c.ignore("num_expert_group", "moe_renormalize", "moe_router_activation_func", "mla_use_nope")
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
