"""Qwen 1 to 3, dense and with experts, and what took their shape: Mellum, Kolibri, Lara."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import ATTENTION, decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import (
    EXPERTS,
    dense_or_sparse,
    listed_ffns,
    mixture,
    sparse,
    unknown_modules,
)
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, attentions, biased, mha, window
from txcalc.sources.readers.refusals import (
    refuse_false,
    refuse_other_head_dim,
    refuse_uneven_heads,
)
from txcalc.sources.readers.trees import noted, tensor

_QKV = ["q", "k", "v"]


def qwen(c: Config) -> Tree:
    """arXiv:2309.16609: biases on q, k and v, whatever no_bias says; gate and up share one width.

    The width stated is that of both together.
    """
    refuse_false(c, "no_bias")
    both = c.size("intermediate_size")
    if both % 2:
        c.refuse("intermediate_size", f"{both} is odd, but it is gate and up together")
    heads, width = c.size("num_attention_heads"), c.size("kv_channels", default=128)
    block = {
        "norm": "rms",
        "attention": mha(heads, head_dim=width, bias=_QKV),
        "ffn": {"kind": "glu", "d_ff": both // 2},
    }
    c.ignore("seq_length", "max_position_embeddings", "use_dynamic_ntk", "use_logn_attn")
    limit = "max_position_embeddings" if c.has("max_position_embeddings") else "seq_length"
    return decoder(c, {"decoder": block}, n_layers(c), tied=False, limit=(limit,))


def mimo(c: Config) -> Tree:
    """arXiv:2505.07608: Qwen 2, and layers that predict further tokens over its table and head."""
    refuse_false(c, "attention_bias")
    tree, modules = _qwen2(c), c.count("num_nextn_predict_layers", default=0)
    if not modules:
        return tree
    norms = ("token_norm", "hidden_norm", "final_norm")
    tensors = {"project": tensor("matmul", "d_model", "2*d_model")}
    tensors |= {name: tensor("norm", "d_model") for name in norms}
    block = next(iter(tree["blocks"]))
    tree |= {"mtp": {"n_modules": modules, "block": block, "tensors": tensors}}
    return noted(tree, "the class builds its modules too: params.total + params.mtp")


def qwen2(c: Config) -> Tree:
    """arXiv:2407.10671: biases on q, k and v."""
    return _qwen2(c)


def qwen2_vl(c: Config) -> Tree:
    """arXiv:2409.12191: the text model of Qwen2-VL and 2.5-VL."""
    refuse_uneven_heads(c)
    refuse_other_head_dim(c)
    return _qwen2(c, kv_default=8, start=80)


def qwen2_5_omni(c: Config) -> Tree:
    """arXiv:2503.20215: the text model of Qwen2.5-Omni's thinker."""
    return _qwen2(c, kv_default=4, size=32768, tied=True)


def qwen3(c: Config) -> Tree:
    """arXiv:2505.09388: q and k normalised by head, heads of 128 unless the file says otherwise."""
    return _qwen2(c, bias=None, head_dim=128, qk_norm="head")


def qwen3_vl(c: Config) -> Tree:
    """The text model of Qwen3-VL, which has no windows."""
    return modern(c, kv_default=32, head_dim=128, qk_norm="head")


def _qwen2(c: Config, *, start: int = 28, size: int = 4096, **differences: Any) -> Tree:
    """Windows in the layers from max_window_layers on, where use_sliding_window is true."""
    start = c.count("max_window_layers", default=start)
    keys, used = window(c, size), c.flag("use_sliding_window", default=False)
    return modern(
        c,
        window=keys if used else None,
        slides=lambda i: i >= start,
        **{"kv_default": 32, "bias": _QKV, **differences},
    )


def qwen2_moe(c: Config) -> Tree:
    """arXiv:2407.10671 section 2.2.2: a gated shared expert beside fine-grained ones."""
    keys, start = _used_window(c), c.count("max_window_layers", default=28)
    bias = biased(c, _QKV, "qkv_bias", default=True)
    mixers = attentions(c, keys, kv_default=16, bias=bias)
    of = kinds(c, n_layers(c), lambda i: "sliding" if i % 2 == 0 and i < start else "full")
    names = ["num_experts"]
    moe = partial(mixture, c, n_experts=names, top_k_default=4, shared_gate=True)
    return _some_dense(c, mixers, of, lambda: moe(**_shared(c)), names)


def qwen3_moe(c: Config) -> Tree:
    """arXiv:2505.09388 section 2: queries and keys normalised by head, no shared expert."""
    keys = _used_window(c)
    c.ignore("max_window_layers", "qkv_bias", "use_qk_norm")
    return _qwen3(c, kv_default=4, window=keys, top_k=8)


def qwen3_vl_moe_text(c: Config) -> Tree:
    """arXiv:2511.21631: the same in the text model, without windows."""
    c.ignore("sliding_window")
    return _qwen3(c, kv_default=16, top_k=4)


def qwen3_omni_moe_text(c: Config) -> Tree:
    """arXiv:2509.17765: the text model of the thinker, with a window where the file states one."""
    return _qwen3(c, kv_default=4, window=window(c), top_k=8, names=["num_experts"])


def _used_window(c: Config) -> int | None:
    c.ignore("sliding_window")
    return window(c, 4096) if c.flag("use_sliding_window", default=False) else None


def _qwen3(c: Config, *, top_k: int, names: Sequence[str] = EXPERTS, **attend: Any) -> Tree:
    mixers = {"full": {"attention": attention(c, qk_norm="head", **attend)}}
    moe = partial(mixture, c, n_experts=names, top_k_default=top_k)
    return _some_dense(c, mixers, ["full"] * n_layers(c), moe, names)


def _some_dense(
    c: Config, mixers: dict[str, Tree], of: list[str], moe: Callable[[], Tree], names: Sequence[str]
) -> Tree:
    step = c.size("decoder_sparse_step", default=1)
    return sparse(c, mixers, of, dense_or_sparse(c, len(of), step, c.count(*names)), moe)


def mellum(c: Config) -> Tree:
    """Mellum 2: Qwen 3's block, with windows and dense layers where the file lists them."""
    count = n_layers(c)
    mixers = attentions(c, window(c, 1024), kv_default=4, head_dim=128, qk_norm="head")
    of = kinds(c, count, lambda _: "full")
    c.ignore("mtp_layer_types", "mtp_mlp_layer_types")
    moe = partial(mixture, c, top_k_default=8)
    return sparse(c, mixers, of, listed_ffns(c, count, 0), moe) | unknown_modules(c)


def kolibri1(c: Config) -> Tree:
    """Norms around both sub-layers, windows in four layers of five, and a shared expert."""
    count = n_layers(c)
    mixers = attentions(c, window(c, 513), kv_default=4, head_dim=128, bias=False, qk_norm="head")
    of = kinds(c, count, lambda i: "sliding" if (i + 1) % 5 else "full")
    moe = mixture(c, top_k_default=6, router_bias="buffer", **_shared(c))
    blocks = grid(mixers, of, {"moe": moe}, ["moe"] * count, norm="rms", placement="sandwich")
    return decoder(c, *blocks, tied=False)


def lara_mini(c: Config) -> Tree:
    """The gated delta rule, windows and full attention in turn; a shared expert without a gate."""
    count = n_layers(c)
    mixers = attentions(c, window(c, 512), kv_default=4, head_dim=128, qk_norm="head")
    mixers["linear"] = {"ssm": {
        "kind": "gated_delta",
        "n_k_heads": c.size("linear_num_key_heads", default=8),
        "n_v_heads": c.size("linear_num_value_heads", default=16),
        "k_dim": c.size("linear_key_head_dim", default=128),
        "v_dim": c.size("linear_value_head_dim", default=128),
        "d_conv": c.size("linear_conv_kernel_dim", default=4),
    }}  # fmt: skip
    period = ("linear", "sliding", "linear", "full", "sliding")
    known = {**ATTENTION, "linear_attention": "linear"}
    of = kinds(c, count, lambda i: period[i % 5], known=known)
    moe = mixture(c, top_k_default=4, **_shared(c))
    return decoder(c, *grid(mixers, of, {"moe": moe}, ["moe"] * count, norm="rms"), tied=True)


def _shared(c: Config) -> Tree:
    wide = c.count("shared_expert_intermediate_size")
    return {"shared": 1, "d_shared": wide} if wide else {}
