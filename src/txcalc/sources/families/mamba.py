"""Mamba and Mamba-2, and what hybrids share with them."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.common import on, sized
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform

LINEAR = {"linear_attention": "mamba", "mamba": "mamba"}
FULL = {"full_attention": "full", "attention": "full"}
"""Block names of the entries of a hybrid's list of layers, by new and by old names."""


def mamba(c: Config) -> Tree:
    """arXiv:2312.00752; Falcon Mamba (arXiv:2410.05355) adds norms without weights."""
    c.ignore("residual_in_fp32", "rescale_prenorm_residual", "use_mambapy", "use_falcon_mambapy")
    c.ignore("use_associative_scan", "mixer_rms_eps", "expand")
    _ignore_steps(c)
    d_model = c.size("hidden_size")
    d_inner = c.maybe("intermediate_size") or sized(c, "expand", 2) * d_model
    ssm = {
        "kind": "mamba",
        "d_inner": d_inner,
        "d_state": sized(c, "state_size", 16),
        "d_conv": sized(c, "conv_kernel", 4),
        "dt_rank": _dt_rank(c, "time_step_rank", d_model),
        "conv_bias": c.flag("use_conv_bias", default=True),
        "bias": c.flag("use_bias", default=False),
    }
    return uniform(c, {"norm": "rms", "ssm": ssm}, tied=True)


def mamba2(c: Config) -> Tree:
    """arXiv:2405.21060."""
    c.ignore("residual_in_fp32", "rescale_prenorm_residual", "time_step_rank", "chunk_size")
    _ignore_steps(c)
    c.ignore("rms_norm", "norm_before_gate")
    d_inner = sized(c, "expand", 2) * c.size("hidden_size")
    if c.size("intermediate_size", default=d_inner) != d_inner:
        c.refuse("intermediate_size", f"it is expand * hidden_size here, which is {d_inner}")
    ssm = {
        "kind": "mamba2",
        **heads(c, d_inner, "num_heads", 128, "head_dim", 64),
        "d_state": sized(c, "state_size", 128),
        "n_groups": sized(c, "n_groups", 8),
        "d_conv": sized(c, "conv_kernel", 4),
        "conv_bias": c.flag("use_conv_bias", default=True),
        "bias": c.flag("use_bias", default=False),
    }
    return uniform(c, {"norm": "rms", "ssm": ssm})


def mamba1_of(c: Config, **more: Any) -> Tree:
    """The Mamba of a hybrid, by keys that begin with ``mamba_``.

    Zamba's heads have projections of their own, which split those of one head.
    """
    c.ignore("use_mamba_kernels", "use_mambapy", "use_associative_scan")
    d_model = c.size("hidden_size")
    return {
        "kind": "mamba",
        "d_inner": sized(c, "mamba_expand", 2) * d_model,
        "d_state": sized(c, "mamba_d_state", 16),
        "d_conv": sized(c, "mamba_d_conv", 4),
        "dt_rank": _dt_rank(c, "mamba_dt_rank", d_model),
        "conv_bias": c.flag("mamba_conv_bias", default=True),
        "bias": c.flag("mamba_proj_bias", default=False),
        **more,
    }


def mamba2_of(c: Config, d_inner: int | None = None, **more: Any) -> Tree:
    """The Mamba-2 of a hybrid, by keys that begin with ``mamba_``."""
    c.ignore("mamba_chunk_size", "time_step_limit")
    d_inner = d_inner or sized(c, "mamba_expand", 2) * c.size("hidden_size")
    return {
        "kind": "mamba2",
        **heads(c, d_inner, "mamba_n_heads", 128, "mamba_d_head"),
        "d_state": sized(c, "mamba_d_state", 256),
        "n_groups": sized(c, "mamba_n_groups", 1),
        "d_conv": sized(c, "mamba_d_conv", 4),
        "conv_bias": on(c, "mamba_conv_bias", default=True),
        "bias": on(c, "mamba_proj_bias", default=False),
        **more,
    }


def heads(
    c: Config, d_inner: int, count: str, default: int, width: str = "", head_dim: int | None = None
) -> Tree:
    """Heads of a Mamba-2 and their width, which have to make up d_inner."""
    n_heads = sized(c, count, default)
    wide = d_inner // n_heads
    if isinstance(c.raw(width), str):
        c.word(width, known=("auto",))
    elif width:
        wide = sized(c, width, head_dim or wide)
    if n_heads * wide != d_inner:
        c.refuse(count, f"{n_heads} heads of {wide} channels are not the {d_inner} there are")
    return {"n_ssm_heads": n_heads, "ssm_head_dim": wide}


def layer_key(c: Config) -> str:
    """The name under which a file lists its layers, of two that have to agree."""
    old, new = "layers_block_type", "layer_types"
    if c.has(old) and c.has(new) and c.raw(old) != c.raw(new):
        c.refuse(old, f"it contradicts {new}")
    c.ignore(old, new)
    return old if c.has(old) else new


def _dt_rank(c: Config, name: str, d_model: int) -> int:
    automatic = -(-d_model // 16)
    if isinstance(c.raw(name), str):
        c.word(name, known=("auto",))
        return automatic
    return sized(c, name, automatic)


def _ignore_steps(c: Config) -> None:
    """Keys of how step sizes begin, and of their bounds."""
    c.ignore(*(f"time_step_{end}" for end in ("scale", "min", "max", "floor", "limit")))
    c.ignore("time_step_init_scheme")
