"""Mamba and Mamba-2, and hybrids of them and attention: Jamba and Bamba."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, grid, n_layers, uniform
from txcalc.sources.readers.mixtures import EXPERTS, mixture
from txcalc.sources.readers.parts import attention, glu
from txcalc.sources.readers.state_spaces import (
    FULL,
    LINEAR,
    dt_rank,
    layer_key,
    mamba2_part,
    mamba_part,
    ssm_heads,
)


def mamba(c: Config) -> Tree:
    """arXiv:2312.00752; Falcon Mamba (arXiv:2410.05355) adds norms without weights."""
    c.ignore("expand")
    d_model = c.size("hidden_size")
    d_inner = c.maybe("intermediate_size") or c.stated("expand", 2) * d_model
    ssm = {
        "kind": "mamba",
        "d_inner": d_inner,
        "d_state": c.stated("state_size", 16),
        "d_conv": c.stated("conv_kernel", 4),
        "dt_rank": dt_rank(c, "time_step_rank", d_model),
        "conv_bias": c.flag("use_conv_bias", default=True),
        "bias": c.flag("use_bias", default=False),
    }
    return uniform(c, {"norm": "rms", "ssm": ssm}, tied=True)


def mamba2(c: Config) -> Tree:
    """arXiv:2405.21060."""
    c.ignore("time_step_rank", "chunk_size", "rms_norm", "norm_before_gate")
    d_inner = c.stated("expand", 2) * c.size("hidden_size")
    if c.size("intermediate_size", default=d_inner) != d_inner:
        c.refuse("intermediate_size", f"it is expand * hidden_size here, which is {d_inner}")
    ssm = {
        "kind": "mamba2",
        **ssm_heads(c, d_inner, "num_heads", 128, "head_dim", 64),
        "d_state": c.stated("state_size", 128),
        "n_groups": c.stated("n_groups", 8),
        "d_conv": c.stated("conv_kernel", 4),
        "conv_bias": c.flag("use_conv_bias", default=True),
        "bias": c.flag("use_bias", default=False),
    }
    return uniform(c, {"norm": "rms", "ssm": ssm})


def jamba(c: Config) -> Tree:
    """arXiv:2403.19887: one layer of a period has attention, one of another has experts."""
    count = n_layers(c)
    mixer_of = _periodic(c, count, "attn_layer", 8, 4, hit="full", miss="mamba")
    ffn_of = _periodic(c, count, "expert_layer", 2, 1, hit="moe", miss="dense")
    if c.count(*EXPERTS, default=16) < 2:
        ffn_of = ["dense"] * count
    networks = {"dense": glu(c)}
    if "moe" in ffn_of:
        networks["moe"] = mixture(c, top_k_default=2, width=["intermediate_size"])
    mixers = {
        "full": {"attention": attention(c, kv_default=8, bias=False)},
        "mamba": {"ssm": mamba_part(c, inner_norms=True)},
    }
    c.ignore("sliding_window", "num_experts_per_tok")
    _agree(c, mixer_of)
    return decoder(c, *grid(mixers, mixer_of, networks, ffn_of, norm="rms"), tied=False)


def bamba(c: Config) -> Tree:
    """IBM's Bamba: Mamba-2, and attention in the layers that are listed."""
    count = n_layers(c)
    listed = set(c.sizes("attn_layer_indices") or ())
    layers = by_layer(count, lambda i: "full" if i in listed else "mamba")
    _agree(c, layers)
    mixers: dict[str, Tree] = {
        "full": {"attention": attention(c, kv_default=8)},
        "mamba": {"ssm": mamba2_part(c)},
    }
    ffn = glu(c, bias="mlp_bias")
    blocks = {name: {"norm": "rms", **mixer, "ffn": ffn} for name, mixer in mixers.items()}
    return decoder(c, blocks, layers, tied=False)


def _agree(c: Config, layers: list[str]) -> None:
    """Refuses a list of layers that contradicts the rule that a type has for them."""
    key = layer_key(c)
    listed = c.words(key, length=len(layers))
    if listed and [(LINEAR | FULL).get(kind) for kind in listed] != layers:
        c.refuse(key, "it contradicts the keys from which this type derives its layers")


def _periodic(
    c: Config, count: int, key: str, period: int, offset: int, *, hit: str, miss: str
) -> list[str]:
    period = c.stated(f"{key}_period", period)
    offset = c.count(f"{key}_offset", default=offset)
    if offset >= period:
        c.refuse(f"{key}_offset", f"{offset} is not below {key}_period, {period}")
    return by_layer(count, lambda i: hit if i % period == offset else miss)
