"""Mixtures of experts of no larger lineage: Aria, DBRX, JetMoE, LongCat-Flash, ZAYA1."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import latent
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import every_layer, mixture, unknown_modules
from txcalc.sources.readers.parts import attention, glu, window
from txcalc.sources.readers.trees import given, noted, tensor


def aria_text(c: Config) -> Tree:
    """Aria (arXiv:2410.05993): Llama's block, routed and shared experts of one width."""
    shared, bias = c.count("moe_num_shared_experts", default=2), c.flag("mlp_bias", default=False)
    if bias and not shared:
        c.unsupported("mlp_bias without shared experts")
    moe = mixture(
        c, n_experts=["moe_num_experts"], top_k=["moe_topk"], top_k_default=2,
        width=["intermediate_size"], shared=shared, shared_bias=bias,
    )  # fmt: skip
    return every_layer(c, attention(c), moe)


def dbrx(c: Config) -> Tree:
    """Databricks' DBRX (2024): fine-grained experts, LayerNorm without biases, a separate head."""
    if c.flag("tie_word_embeddings", default=False):
        c.refuse("tie_word_embeddings", "true, but the type's head is never tied")
    c.ignore("num_key_value_heads")
    norm = "layer_no_bias"
    block = {"norm": norm, "attention": _dbrx_attention(c), "ffn": _dbrx_experts(c)}
    return decoder(
        c, {"moe": block}, n_layers(c, "n_layers", "num_hidden_layers"), tied=False,
        final_norm=norm, width=("d_model", "hidden_size"),
        limit=("max_seq_len", "max_position_embeddings"),
    )  # fmt: skip


def _dbrx_attention(c: Config) -> Tree:
    heads = c.size("n_heads", "num_attention_heads")
    inner, kv_heads = c.inner("attn_config"), 1
    if inner:
        kv_heads = inner.size("kv_n_heads", default=1)
        inner.ignore("model_type")
    return {"kind": "gqa", "n_heads": heads, "n_kv_heads": kv_heads}


def _dbrx_experts(c: Config) -> Tree:
    inner = c.needed("ffn_config")
    inner.ignore("hidden_size", "moe_normalize_expert_weights", "model_type")
    return {
        "kind": "moe",
        "n_experts": inner.size("moe_num_experts"),
        "top_k": inner.size("moe_top_k", default=1),
        "d_expert": inner.size("ffn_hidden_size"),
    }


def jetmoe(c: Config) -> Tree:
    """arXiv:2404.07413: experts in attention and FFN, the same number of both.

    The query heads follow from the experts that a token uses, whatever the file says of them.
    """
    c.ignore("num_attention_heads")
    experts = {
        "n_experts": c.size("num_local_experts"),
        "top_k": c.size("num_experts_per_tok", default=2),
    }
    heads = {
        "n_kv_heads": c.size("num_key_value_heads", default=16),
        "head_dim": c.size("kv_channels", "head_dim", default=128),
    }
    attend = {"kind": "moa", **experts, **heads, "bias": True}
    moe = {"kind": "moe", **experts, "d_expert": c.size("intermediate_size")}
    bias = {"ffn_bias": tensor("bias", "d_model")}
    return every_layer(c, attend, moe, tied=True, tensors=bias)


def longcat_flash(c: Config) -> Tree:
    """arXiv:2509.01322: each half of a layer is a block here.

    The mixture reads what the first half's FFN reads and joins the stream after the second half, so
    that FFN is a shared expert of its block.
    """
    count = n_layers(c, "num_layers") if c.has("num_layers") else _halves(c)
    attend = latent(c, q_default=1536)
    width = "ffn_hidden_size" if c.has("ffn_hidden_size") else "intermediate_size"
    ffn = glu(c, width=width)
    zero = c.count("zero_expert_num", default=256)
    moe = {
        "kind": "moe",
        "n_experts": c.size("n_routed_experts", "num_local_experts"),
        "top_k": c.size("moe_topk", "num_experts_per_tok", default=12),
        "d_expert": c.size("expert_ffn_hidden_size", "moe_intermediate_size"),
        "n_shared": 1,
        "d_shared": ffn["d_ff"],
        "router_bias": "buffer",
        **given(n_zero=zero or None, zero_weights=zero > 0),
    }
    if c.flag("router_bias", default=False):
        c.unsupported("a bias of the router beside its correction")
    blocks = {
        "shortcut": {"norm": "rms", "attention": attend, "ffn": moe},
        "plain": {"norm": "rms", "attention": attend, "ffn": ffn},
    }
    tree = decoder(c, blocks, ["shortcut", "plain"] * count, tied=False, **unknown_modules(c))
    stored = "the published class stores unread weights for the experts that do nothing"
    return noted(tree, stored if zero else None)


def _halves(c: Config) -> int:
    halves = n_layers(c)
    if halves % 2:
        c.refuse("num_hidden_layers", f"{halves} is odd, but each layer has two halves")
    return halves // 2


_KINDS = {"hybrid": "full", "hybrid_sliding": "sliding"}
"""Block names of the entries of ZAYA1's ``layer_types``."""


def zaya(c: Config) -> Tree:
    """arXiv:2511.17127 section 3: convolutional attention, and a router of three layers.

    A token uses one expert, or none: the router's last class skips them.
    """
    count = n_layers(c)
    if c.size("num_experts_per_tok", default=1) != 1:
        c.refuse("num_experts_per_tok", "a token of this type uses one expert")
    of = kinds(c, count, lambda _: "full", known=_KINDS)
    mixers = {
        first + name: {"attention": _cca(c, keys), "tensors": _router(c, first=bool(first))}
        for name, keys in {"full": None, "sliding": window(c)}.items()
        for first in ("", "first_")
    }
    experts = mixture(c, n_experts=["num_experts"], top_k_default=1) | {"router": False}
    blocks = grid(
        mixers, [f"first_{of[0]}", *of[1:]], {"moe": experts}, ["moe"] * count, norm="rms"
    )
    scale = {"input_scale": tensor("elementwise", "d_model", copies=2)}
    bias = c.flag("lm_head_bias", default=False)
    return decoder(c, *blocks, tied=True, head_bias=bias, tensors=scale)


def _cca(c: Config, keys: int | None) -> Tree:
    part = attention(c, kv_default=2, head_dim=128, window=keys)
    return part | {
        "kind": "cca",
        "n_kv_heads": part.get("n_kv_heads", part["n_heads"]),
        "d_conv": c.size("cca_time0", default=2),
        "d_head_conv": c.size("cca_time1", default=2),
    }


def _router(c: Config, *, first: bool) -> Tree:
    """The router, which adds what the layer before routed by, and the scales of the residuals."""
    width, classes = c.size("router_hidden_size"), c.size("num_experts") + 1
    tensors = {
        "router_down": tensor("matmul", width, "d_model"),
        "router_hidden": tensor("matmul", width, width, copies=2),
        "router_out": tensor("matmul", classes, width),
        "router_biases": tensor("bias", width, copies=3),
        "router_norm": tensor("norm", width),
        "router_balance": tensor("buffer", classes),
        "residual_scales": tensor("elementwise", "d_model", copies=8),
    }
    scale = {"router_scale": tensor("elementwise", width)}
    return tensors if first else tensors | scale
