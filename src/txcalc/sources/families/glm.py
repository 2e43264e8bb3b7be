"""Zhipu's GLM, and what took the shape of GLM-4.5: Sarvam and Solar."""

from __future__ import annotations

from functools import partial

from txcalc.sources.families.deepseek import hyper
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import index_types, indexer, latent, latent_decoder
from txcalc.sources.readers.layers import kinds, n_layers
from txcalc.sources.readers.mixtures import (
    dense_before,
    listed_ffns,
    mixture,
    modules,
    routed,
    sparse,
    unknown_modules,
)
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, biased
from txcalc.sources.readers.refusals import refuse_other_head_dim
from txcalc.sources.readers.state_spaces import kimi_delta

_QKV = ["q", "k", "v"]


def glm(c: Config) -> Tree:
    """arXiv:2406.12793: biases on q, k and v; 2 KV heads of 128 unless the file says otherwise."""
    return modern(c, kv_default=2, head_dim=128, bias=biased(c, _QKV, default=True))


def glm4(c: Config) -> Tree:
    """GLM with norms on both sides of each sub-layer."""
    bias = biased(c, _QKV, default=True)
    return modern(c, placement="sandwich", kv_default=2, head_dim=128, bias=bias)


def glm4v(c: Config) -> Tree:
    """arXiv:2507.01006: GLM-4's layers behind a vision tower, with heads as wide as they divide."""
    refuse_other_head_dim(c)
    c.ignore("attention_bias")
    return modern(c, placement="sandwich", kv_default=2, bias=_QKV)


def glm_ocr(c: Config) -> Tree:
    """The same without biases, with 8 KV heads unless the file says otherwise."""
    c.ignore("attention_bias")
    return modern(c, placement="sandwich", kv_default=8, bias=False)


def glm4_moe(c: Config) -> Tree:
    """arXiv:2508.06471 section 2.1: biases on q, k and v, and norms of q and k, by flag."""
    normed = c.flag("use_qk_norm", default=False)
    bias = biased(c, _QKV, default=False)
    attend = attention(c, kv_default=8, bias=bias, qk_norm="head" if normed else "none")
    return _glm_4_5(c, attend, _experts(c))


def glm4v_moe_text(c: Config) -> Tree:
    """arXiv:2507.01006: the text model of GLM-4.5V, without norms of q and k."""
    attend = attention(c, kv_default=8, bias=biased(c, _QKV, default=True))
    return _glm_4_5(c, attend, _experts(c))


def sarvam_moe(c: Config) -> Tree:
    """Sarvam-30B: GLM-4.5's shape under names of its own, queries and keys normalised."""
    bias = _QKV if c.flag("attention_bias", "use_qkv_bias", default=False) else False
    normed = c.flag("use_qk_norm", default=True)
    attend = attention(
        c, kv_default=4, head_dim=64, bias=bias, qk_norm="head" if normed else "none"
    )
    moe = mixture(
        c, n_experts=("n_routed_experts", "num_experts", "num_local_experts"), top_k_default=6,
        shared=c.count("n_shared_experts", "num_shared_experts", default=1), router_bias="buffer",
    )  # fmt: skip
    return _glm_4_5(c, attend, moe)


def _glm_4_5(c: Config, attend: Tree, moe: Tree) -> Tree:
    """The first layers dense, and modules for further tokens."""
    ffn_of = dense_before(n_layers(c), c.count("first_k_dense_replace", default=1))
    tree = sparse(c, {"full": {"attention": attend}}, ["full"] * len(ffn_of), ffn_of, lambda: moe)
    return tree | modules(c, tree["blocks"], {"norm": "rms", "attention": attend, "ffn": moe})


def solar_open(c: Config) -> Tree:
    """Solar Open 100B: GLM's block with experts in every layer."""
    attend = attention(c, kv_default=8, head_dim=128, bias=biased(c, _QKV, default=False))
    count, mixers = n_layers(c), {"full": {"attention": attend}}
    return sparse(c, mixers, ["full"] * count, ["moe"] * count, partial(_experts, c))


def _experts(c: Config) -> Tree:
    """Experts balanced by a buffer, one of them shared unless the file says otherwise."""
    return mixture(
        c, n_experts=("n_routed_experts", "num_local_experts"), top_k_default=8,
        shared=c.count("n_shared_experts", default=1), router_bias="buffer",
    )  # fmt: skip


def glm4_moe_lite(c: Config) -> Tree:
    """GLM-4.7-Flash: DeepSeek-V3's shape, one dense layer unless they are listed."""
    if not c.has("mlp_layer_types") and c.count("first_k_dense_replace", default=1) != 1:
        c.unsupported("a first_k_dense_replace other than 1 in this type")
    attend = latent(c, q_default=768, rope=("qk_rope_head_dim", "head_dim"))
    return latent_decoder(c, {"latent": attend}, dense=1, listed=True)


def glm_moe_dsa(c: Config) -> Tree:
    """GLM-5 (arXiv:2602.15763): an indexer whose choice the layers after it may share."""
    count, index = n_layers(c), indexer(c, heads=32)
    mixers = {
        "full": latent(c, q_default=2048, indexer=index),
        "shared": latent(c, q_default=2048, shared_top_k=index["index_top_k"]),
    }
    c.ignore("layer_types", "mlp_bias")
    return latent_decoder(c, mixers, index_types(c, count), dense=3, listed=True)


_KINDS = {"linear_attention": "linear", "indexed_attention": "full", "full_attention": "full"}


def glm5_next(c: Config) -> Tree:
    """Three linear layers to a latent one without positions, whose indexer may be shared."""
    count = n_layers(c)
    if c.count("qk_rope_head_dim", default=0):
        c.unsupported("a rotary key in this type")
    index = indexer(c, heads=32) | {"pool": c.size("index_kpool", default=16)}
    if not c.flag("index_kpool_always_select_tail", default=True):
        c.unsupported("a pool of keys that is left out until it is complete")
    reached = index["index_top_k"] + index["pool"] - 1
    mixers = {
        "linear": {"ssm": kimi_delta(c, c.inner("linear_attn_config"), heads=64)},
        "full": {"attention": latent(c, q_default=1536, indexer=index)},
        "shared": {"attention": latent(c, q_default=1536, shared_top_k=reached)},
    }
    layers = kinds(c, count, lambda i: "full" if i % 4 == 3 else "linear", known=_KINDS)
    mixer_of = [
        index if layer == "full" else layer
        for layer, index in zip(layers, index_types(c, count), strict=True)
    ]
    moe = partial(routed, c, router_bias="buffer")
    ffn_of = listed_ffns(c, count, 3)
    return sparse(c, mixers, mixer_of, ffn_of, moe, residual=hyper(c)) | unknown_modules(c)
