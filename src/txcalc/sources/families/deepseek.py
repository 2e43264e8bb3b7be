"""DeepSeek-V2 and V3, and models of their shape: GLM-5, GLM-4.7-Flash, Kimi-K2, A.X, Sarvam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from txcalc.sources.readers.common import glu, text_model
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import dense_first, experts, ffns, indexer, latent, modules
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers

INDEXERS = {"full": "full", "shared": "shared"}


def deepseek_v2(c: Config) -> Tree:
    """arXiv:2405.04434: latent attention, shared experts, the first layers dense."""
    bias = c.flag("mlp_bias", default=False)
    attend = latent(c, q_default=1536)
    return _model(
        c, {"latent": attend}, dense=0, bias=bias, shared=2, router_bias=False, needs_top_k=False
    )


def deepseek_v3(c: Config) -> Tree:
    """arXiv:2412.19437: experts balanced by a buffer, and modules for further tokens."""
    return _model(c, {"latent": latent(c, q_default=1536)}, dense=3)


def sarvam_mla(c: Config) -> Tree:
    """Sarvam-105B: DeepSeek-V3 without a query latent, one dense layer."""
    return _model(c, {"latent": latent(c)}, dense=1)


def glm4_moe_lite(c: Config) -> Tree:
    """GLM-4.7-Flash: DeepSeek-V3's shape, one dense layer unless they are listed."""
    if not c.has("mlp_layer_types") and c.count("first_k_dense_replace", default=1) != 1:
        c.unsupported("a first_k_dense_replace other than 1 in this type")
    attend = latent(c, q_default=768, rope=("qk_rope_head_dim", "head_dim"))
    return _model(c, {"latent": attend}, dense=1, listed=True)


def axk1(c: Config) -> Tree:
    """A.X-K1: DeepSeek-V3 with a norm after each mixture."""
    tree = _model(c, {"latent": latent(c, q_default=1536)}, dense=1, listed=True)
    for block in tree["blocks"].values():
        if block["ffn"]["kind"] == "moe":
            block["tensors"] = {"after_moe": {"use": "norm", "dims": ["d_model"]}}
    return tree


def deepseek_v32(c: Config) -> Tree:
    """arXiv:2512.02556: DeepSeek-V3 with an indexer in every layer."""
    attend = latent(c, q_default=1536, indexer=indexer(c, heads=64))
    c.ignore("layer_types", "mlp_bias")
    return _model(c, {"full": attend}, dense=3, listed=True)


def glm_moe_dsa(c: Config) -> Tree:
    """GLM-5 (arXiv:2602.15763): an indexer whose choice the layers after it may share."""
    count, index = n_layers(c), indexer(c, heads=32)
    full = latent(c, q_default=2048, indexer=index)
    shared = latent(c, q_default=2048, shared_top_k=index["index_top_k"])
    c.ignore("layer_types", "mlp_bias")
    mixers = {"full": full, "shared": shared}
    return _model(c, mixers, index_types(c, count), dense=3, listed=True)


def axk2(c: Config) -> Tree:
    """A.X-K2: DeepSeek-V3.2 with a gate of the output, and norms gated by a narrow network."""
    attend = latent(c, q_default=384, indexer=indexer(c, heads=16), gate="query")
    c.ignore("layer_types", "mlp_bias")
    tree = _model(c, {"full": attend}, dense=1, listed=True)
    rank = c.size("gated_norm_rank", default=16)
    for block in tree["blocks"].values():
        gated = 2 if block["ffn"]["kind"] == "moe" else 1
        block["tensors"] = {
            "norm_gate_down": {"use": "matmul", "dims": [rank, "d_model"], "copies": gated},
            "norm_gate_up": {"use": "matmul", "dims": ["d_model", rank], "copies": gated},
        }
    return tree


def kimi_k25(c: Config) -> Tree:
    """Kimi-K2.5: DeepSeek-V3 beside a vision tower; its head is tied unless the file says not."""
    if not c.has("tie_word_embeddings") and c.needed("text_config").has("tie_word_embeddings"):
        c.refuse("tie_word_embeddings", "missing, but it is needed beside text_config's")
    c.ignore("projection_hidden_size", "projection_layer_norm_eps")
    c.ignore("ignore_index", "use_unified_vision_chunk", "video_placeholder")
    return text_model(c, deepseek_v3, "the vision tower", tied=True)


def index_types(c: Config, count: int) -> list[str]:
    """Which layers have an indexer: those listed, by a pattern of letters, or every so many."""
    word = c.raw("index_topk_pattern")
    c.ignore("index_topk_freq", "index_skip_topk_offset")
    if not c.has("indexer_types") and isinstance(word, str):
        if len(word) != count or set(word) - set("FS"):
            c.refuse("index_topk_pattern", f"a word of {count} letters F and S is needed")
        return ["full" if letter == "F" else "shared" for letter in word]
    key = "indexer_types" if c.has("indexer_types") or word is None else "index_topk_pattern"
    every = c.size("index_topk_freq", default=1)
    offset = c.count("index_skip_topk_offset", default=2)
    return kinds(
        c, count, lambda i: "shared" if max(i - offset + 1, 0) % every else "full", key=key,
        known=INDEXERS,
    )  # fmt: skip


def _model(
    c: Config,
    mixers: dict[str, Tree],
    mixer_of: Sequence[str] = (),
    *,
    dense: int,
    listed: bool = False,
    bias: bool = False,
    **mixture: Any,
) -> Tree:
    """A decoder of latent attention, with dense FFNs and mixtures.

    ``dense`` is how many layers begin with a dense FFN by the type's default.
    """
    count = n_layers(c)
    ffn_of = dense_first(c, count, dense, listed=listed)
    routed = {"router_bias": "buffer", "biased": bias, **mixture}
    networks = ffns(c, ffn_of, lambda: glu(c, bias=bias), lambda: experts(c, **routed))
    fields = {name: {"attention": mixer} for name, mixer in mixers.items()}
    blocks, layers = grid(
        fields, mixer_of or [next(iter(mixers))] * count, networks, ffn_of, norm="rms"
    )
    first = next(iter(fields.values()))
    kind = {"norm": "rms", **first, "ffn": networks.get("moe")}
    return decoder(c, blocks, layers, tied=False, **modules(c, blocks, kind))
