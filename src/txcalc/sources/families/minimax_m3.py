"""MiniMax-M3: attention to blocks of keys that an indexer picks, and mixtures of experts."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, glu, mixture
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import ffns
from txcalc.sources.readers.layers import FFN, decoder, grid, kinds, n_layers

_KINDS = {"full_attention": "full", "minimax_m3_sparse": "sparse"}
_INDEX = {
    "index_heads": ("index_n_heads", "sparse_num_index_heads", 4),
    "index_dim": ("index_head_dim", "sparse_index_dim", 128),
    "index_block": ("index_block_size", "sparse_block_size", 128),
    "index_top_k": ("index_topk_blocks", "sparse_topk_blocks", 16),
}
"""A field of the indexer: its key, its name in sparse_attention_config, the type's default."""


def minimax_m3(c: Config) -> Tree:
    """The text model: its dense layers' FFNs have a width of their own."""
    count, sparse = n_layers(c), c.inner("sparse_attention_config")
    attend = attention(c, kv_default=4, head_dim=128, qk_norm="head")
    mixers = {
        "full": {"attention": attend},
        "sparse": {"attention": attend | {"indexer": _indexer(c, sparse)}},
    }
    listed = None if sparse is None else sparse.flags("sparse_attention_freq")
    if listed is not None and len(listed) < count:
        c.refuse("sparse_attention_config", f"{len(listed)} entries for {count} layers")
    mixer_of = kinds(c, count, lambda i: "sparse" if listed and listed[i] else "full", known=_KINDS)
    routed = c.flags("moe_layer_freq") or [True] * count
    if len(routed) < count:
        c.refuse("moe_layer_freq", f"{len(routed)} entries for {count} layers")
    ffn_of = kinds(
        c, count, lambda i: "moe" if routed[i] else "dense", key="mlp_layer_types", known=FFN
    )
    networks = ffns(c, ffn_of, lambda: glu(c, width="dense_intermediate_size"), lambda: _experts(c))
    c.ignore(
        "dense_intermediate_size",
        "shared_intermediate_size",
        "index_local_blocks",
        "rotary_dim",
        "swiglu_alpha",
    )
    blocks, layers = grid(mixers, mixer_of, networks, ffn_of, norm="rms")
    return decoder(c, blocks, layers, tied=False)


def _experts(c: Config) -> Tree:
    return mixture(
        c, n_experts=("num_local_experts", "num_experts"), top_k_default=4,
        width=("intermediate_size",), shared=1,
        d_shared=c.size("shared_intermediate_size", default=3072), router_bias="buffer",
    )  # fmt: skip


def _indexer(c: Config, sparse: Config | None) -> Tree:
    """Sizes at the top level, or as the original code calls them; theirs go before."""
    found = {}
    for field, (key, legacy, default) in _INDEX.items():
        own = c.size(key, default=default)
        found[field] = own if sparse is None else sparse.size(legacy, default=own)
    return found
