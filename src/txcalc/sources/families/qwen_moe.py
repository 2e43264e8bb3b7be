"""Qwen 2 and 3 with experts, and what took their shape: Mellum, Kolibri, Lara."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from txcalc.sources.readers.common import attention, attentions, glu, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import ffns, unknown_modules
from txcalc.sources.readers.layers import ATTENTION, FFN, by_layer, decoder, grid, kinds, n_layers

_EXPERTS = ("num_experts", "num_local_experts")


def qwen2_moe(c: Config) -> Tree:
    """arXiv:2407.10671 section 2.2.2: a gated shared expert beside fine-grained ones."""
    bias = ["q", "k", "v"] if c.flag("qkv_bias", default=True) else False
    keys = window(c, 4096) if c.flag("use_sliding_window", default=False) else None
    c.ignore("sliding_window")
    start = c.count("max_window_layers", default=28)
    mixers = attentions(c, keys, kv_default=16, bias=bias)
    of = kinds(c, n_layers(c), lambda i: "sliding" if i % 2 == 0 and i < start else "full")
    names = _EXPERTS[:1]
    return _some_dense(
        c, mixers, of, lambda: _experts(c, 4, names=names, shared_gate=True, **_shared(c)), names
    )


def qwen3_moe(c: Config) -> Tree:
    """arXiv:2505.09388 section 2: queries and keys normalised by head, no shared expert."""
    keys = window(c, 4096) if c.flag("use_sliding_window", default=False) else None
    c.ignore("sliding_window", "max_window_layers", "qkv_bias", "use_qk_norm")
    return _qwen3(c, kv_default=4, window=keys, top_k=8)


def qwen3_vl_moe_text(c: Config) -> Tree:
    """arXiv:2511.21631: the same in the text model, without windows."""
    c.ignore("sliding_window")
    return _qwen3(c, kv_default=16, top_k=4)


def qwen3_omni_moe_text(c: Config) -> Tree:
    """arXiv:2509.17765: the text model of the thinker, with a window where the file states one."""
    return _qwen3(c, kv_default=4, window=window(c), top_k=8, names=_EXPERTS[:1])


def _qwen3(c: Config, *, top_k: int, names: tuple[str, ...] = _EXPERTS, **more: int | None) -> Tree:
    bias = c.flag("attention_bias", default=False)
    mixers = {"full": {"attention": attention(c, bias=bias, qk_norm="head", **more)}}
    of = ["full"] * n_layers(c)
    return _some_dense(c, mixers, of, lambda: _experts(c, top_k, names=names), names)


def mellum(c: Config) -> Tree:
    """Mellum 2: Qwen 3's block, with windows and dense layers where the file lists them."""
    count = n_layers(c)
    bias = c.flag("attention_bias", default=False)
    mixers = attentions(c, window(c, 1024), kv_default=4, head_dim=128, bias=bias, qk_norm="head")
    of = kinds(c, count, lambda _: "full")
    ffn_of = kinds(c, count, lambda _: "moe", key="mlp_layer_types", known=FFN)
    found = ffns(c, ffn_of, lambda: glu(c), lambda: _experts(c, 8))
    c.ignore("mtp_layer_types", "mtp_mlp_layer_types")
    blocks = grid(mixers, of, found, ffn_of, norm="rms")
    return decoder(c, *blocks, tied=False, **unknown_modules(c))


def kolibri1(c: Config) -> Tree:
    """Norms around both sub-layers, windows in four layers of five, and a shared expert."""
    count = n_layers(c)
    mixers = attentions(c, window(c, 513), kv_default=4, head_dim=128, qk_norm="head")
    of = kinds(c, count, lambda i: "sliding" if (i + 1) % 5 else "full")
    ffns = {"moe": _experts(c, 6, router_bias="buffer", **_shared(c))}
    blocks = grid(mixers, of, ffns, ["moe"] * count, norm="rms", placement="sandwich")
    return decoder(c, *blocks, tied=False)


def lara_mini(c: Config) -> Tree:
    """The gated delta rule, windows and full attention in turn; a shared expert without a gate."""
    count, bias = n_layers(c), c.flag("attention_bias", default=False)
    mixers = attentions(c, window(c, 512), kv_default=4, head_dim=128, bias=bias, qk_norm="head")
    mixers["linear"] = {"ssm": _gated_delta(c)}
    period = ("linear", "sliding", "linear", "full", "sliding")
    known = {**ATTENTION, "linear_attention": "linear"}
    of = kinds(c, count, lambda i: period[i % 5], known=known)
    ffns = {"moe": _experts(c, 4, **_shared(c))}
    return decoder(c, *grid(mixers, of, ffns, ["moe"] * count, norm="rms"), tied=True)


def _gated_delta(c: Config) -> Tree:
    return {
        "kind": "gated_delta",
        "n_k_heads": c.size("linear_num_key_heads", default=8),
        "n_v_heads": c.size("linear_num_value_heads", default=16),
        "k_dim": c.size("linear_key_head_dim", default=128),
        "v_dim": c.size("linear_value_head_dim", default=128),
        "d_conv": c.size("linear_conv_kernel_dim", default=4),
    }


def _experts(c: Config, top_k: int, *, names: tuple[str, ...] = _EXPERTS, **more: Any) -> Tree:
    return mixture(c, n_experts=names, top_k_default=top_k, **more)


def _shared(c: Config) -> Tree:
    wide = c.count("shared_expert_intermediate_size")
    return {"shared": 1, "d_shared": wide} if wide else {}


def _some_dense(
    c: Config,
    mixers: dict[str, Tree],
    of: list[str],
    experts: Callable[[], Tree],
    names: tuple[str, ...],
) -> Tree:
    """Experts, if there are any, in each decoder_sparse_step-th layer not in mlp_only_layers."""
    step = c.size("decoder_sparse_step", default=1)
    dense = set(c.sizes("mlp_only_layers") or ())
    any_experts = c.count(*names) > 0

    def rule(i: int) -> str:
        return "moe" if any_experts and i not in dense and (i + 1) % step == 0 else "dense"

    ffn_of = by_layer(len(of), rule)
    found = ffns(c, ffn_of, lambda: glu(c), experts)
    return decoder(c, *grid(mixers, of, found, ffn_of, norm="rms"), tied=False)
