"""State spaces and delta rules by the keys that hybrids have for them, and their layers' names."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.config import Config, Tree

LINEAR = {"linear_attention": "mamba", "mamba": "mamba"}
FULL = {"full_attention": "full", "attention": "full"}
DELTA = {"linear_attention": "linear"} | FULL
"""Block names of the entries of a hybrid's list of layers, by new and by old names."""


def mamba_part(c: Config, **more: Any) -> Tree:
    """The Mamba of a hybrid, by keys that begin with ``mamba_``.

    Zamba's heads have projections of their own, which split those of one head.
    """
    d_model = c.size("hidden_size")
    return {
        "kind": "mamba",
        "d_inner": c.stated("mamba_expand", 2) * d_model,
        "d_state": c.stated("mamba_d_state", 16),
        "d_conv": c.stated("mamba_d_conv", 4),
        "dt_rank": dt_rank(c, "mamba_dt_rank", d_model),
        "conv_bias": c.flag("mamba_conv_bias", default=True),
        "bias": c.flag("mamba_proj_bias", default=False),
        **more,
    }


def mamba2_part(c: Config, d_inner: int | None = None, **more: Any) -> Tree:
    """The Mamba-2 of a hybrid, by keys that begin with ``mamba_``."""
    d_inner = d_inner or c.stated("mamba_expand", 2) * c.size("hidden_size")
    return {
        "kind": "mamba2",
        **ssm_heads(c, d_inner, "mamba_n_heads", 128, "mamba_d_head"),
        "d_state": c.stated("mamba_d_state", 256),
        "n_groups": c.stated("mamba_n_groups", 1),
        "d_conv": c.stated("mamba_d_conv", 4),
        "conv_bias": c.on("mamba_conv_bias", default=True),
        "bias": c.on("mamba_proj_bias", default=False),
        **more,
    }


def ssm_heads(
    c: Config, d_inner: int, count: str, default: int, width: str = "", head_dim: int | None = None
) -> Tree:
    """Heads of a Mamba-2 and their width, which have to make up d_inner."""
    n_heads = c.stated(count, default)
    wide = d_inner // n_heads
    if width and isinstance(c.raw(width), str):
        c.word(width, known=("auto",))
    elif width:
        wide = c.stated(width, head_dim or wide)
    if n_heads * wide != d_inner:
        c.refuse(count, f"{n_heads} heads of {wide} channels are not the {d_inner} there are")
    return {"n_ssm_heads": n_heads, "ssm_head_dim": wide}


def dt_rank(c: Config, name: str, d_model: int) -> int:
    """Channels of the step size, which the word ``auto`` may stand for."""
    automatic = -(-d_model // 16)
    if isinstance(c.raw(name), str):
        c.word(name, known=("auto",))
        return automatic
    return c.stated(name, automatic)


def gated_delta(c: Config, *, k_heads: int = 16, v_heads: int = 32) -> Tree:
    """arXiv:2412.06464, by Qwen's keys; ``k_heads`` and ``v_heads`` are the type's defaults."""
    return {
        "kind": "gated_delta",
        "n_k_heads": c.stated("linear_num_key_heads", k_heads),
        "n_v_heads": c.stated("linear_num_value_heads", v_heads),
        "k_dim": c.stated("linear_key_head_dim", 128),
        "v_dim": c.stated("linear_value_head_dim", 128),
        "d_conv": c.stated("linear_conv_kernel_dim", 4),
    }


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
        linear.ignore("full_attn_layers", "kda_layers", "safe_gate")
    return part | {"gate_rank": part["head_dim"]}


def layer_key(c: Config) -> str:
    """The name under which a file lists its layers, of two that have to agree."""
    old, new = "layers_block_type", "layer_types"
    if c.has(old) and c.has(new) and c.raw(old) != c.raw(new):
        c.refuse(old, f"it contradicts {new}")
    c.ignore(old, new)
    return old if c.has(old) else new
