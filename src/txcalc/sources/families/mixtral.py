"""Mixtral and other mixtures of experts in every layer, without shared ones."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.common import attention, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import UNKNOWN_MODULES
from txcalc.sources.readers.layers import decoder, n_layers

_LOCAL = ("num_local_experts", "num_experts")


def mixtral(c: Config) -> Tree:
    """arXiv:2401.04088: Mistral's attention, 2 of 8 experts."""
    return _model(c, attention(c, kv_default=8, window=window(c)), _experts(c, 2))


def phimoe(c: Config) -> Tree:
    """arXiv:2404.14219 section 2: LayerNorm, biases by flag, of the head too."""
    bias = c.flag("attention_bias", default=False)
    head_bias = c.flag("lm_head_bias", default=False)
    attend = attention(c, kv_default=8, bias=bias, window=window(c))
    return _model(c, attend, _experts(c, 2), norm="layer", head_bias=head_bias)


def olmoe(c: Config) -> Tree:
    """arXiv:2409.02060: queries and keys normalised over all channels."""
    attend = attention(c, bias=c.flag("attention_bias", default=False), qk_norm="width")
    if attend["n_heads"] * attend.get("head_dim", 0) not in (0, c.size("hidden_size")):
        c.unsupported("a norm of queries whose heads do not make up hidden_size")
    return _model(c, attend, _experts(c, 8))


def flex_olmo(c: Config) -> Tree:
    """arXiv:2507.07024: OLMo 2's norms after the sub-layers, and experts."""
    attend = attention(c, bias=c.flag("attention_bias", default=False), qk_norm="width")
    return _model(c, attend, _experts(c, 5), placement="output")


def minimax_m2(c: Config) -> Tree:
    """MiniMax-M2: queries and keys normalised over all channels, experts balanced by a buffer."""
    attend = attention(c, kv_default=8, head_dim=128, qk_norm="width")
    if c.count("shared_intermediate_size", default=0):
        c.unsupported("a shared expert of this type")
    c.ignore("rotary_dim", "qk_norm_type", "use_qk_norm", "use_routing_bias", "use_mtp")
    c.ignore("mtp_transformer_layers", "attn_type_list")
    beside = {"notes": [UNKNOWN_MODULES]} if c.count("num_mtp_modules", default=0) else {}
    return _model(c, attend, _experts(c, 8, router_bias="buffer")) | beside


def _experts(c: Config, top_k: int, **more: Any) -> Tree:
    width = ("intermediate_size",)
    return mixture(c, n_experts=_LOCAL, top_k_default=top_k, width=width, **more)


def _model(
    c: Config,
    attend: Tree,
    experts: Tree,
    *,
    norm: str = "rms",
    head_bias: bool = False,
    **more: Any,
) -> Tree:
    block = {"norm": norm, "attention": attend, "ffn": experts, **more}
    return decoder(c, {"moe": block}, n_layers(c), tied=False, final_norm=norm, head_bias=head_bias)
