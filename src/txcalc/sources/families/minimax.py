"""MiniMax: lightning attention, and attention to blocks that an indexer picks, over experts."""

from __future__ import annotations

from functools import partial

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, kinds, n_layers
from txcalc.sources.readers.mixtures import (
    FFN,
    LOCAL,
    UNKNOWN_MODULES,
    every_layer,
    mixture,
    sparse,
)
from txcalc.sources.readers.parts import attention, glu, window
from txcalc.sources.readers.refusals import refuse_false, refuse_flags
from txcalc.sources.readers.state_spaces import DELTA
from txcalc.sources.readers.trees import noted


def minimax(c: Config) -> Tree:
    """arXiv:2501.08313: lightning attention, or softmax attention, over experts."""
    c.ignore("block_size")
    layers = kinds(c, n_layers(c), lambda i: "linear" if i % 2 else "full", known=DELTA)
    return _minimax(c, layers)


def minimax_text_01(c: Config) -> Tree:
    """The same in the form of MiniMax's own files: a list of 0 (lightning) and 1 (softmax)."""
    c.ignore("postnorm", "shared_moe_mode")
    softmax = c.flags("attn_type_list", length=n_layers(c))
    if softmax is None:
        c.refuse("attn_type_list", "missing, but it is needed: the kind of each layer")
    if c.raw("shared_intermediate_size") not in (None, 0, [0]):
        c.unsupported("a shared expert of this type")
    return _minimax(c, ["full" if kind else "linear" for kind in softmax])


def _minimax(c: Config, layers: list[str]) -> Tree:
    attend = attention(c, kv_default=8, bias=False, window=window(c))
    width = attend.get("head_dim") or c.size("hidden_size") // attend["n_heads"]
    lightning = {"kind": "lightning", "n_heads": attend["n_heads"], "head_dim": width}
    moe = mixture(c, n_experts=LOCAL, top_k_default=2, width=["intermediate_size"])
    mixers: dict[str, Tree] = {"full": {"attention": attend}, "linear": {"ssm": lightning}}
    blocks = {name: {"norm": "rms", **mixer, "ffn": moe} for name, mixer in mixers.items()}
    return decoder(c, blocks, layers, tied=False)


def minimax_m2(c: Config) -> Tree:
    """MiniMax-M2: queries and keys normalised over all channels, experts balanced by a buffer."""
    attend = attention(c, kv_default=8, head_dim=128, bias=False, qk_norm="width")
    if c.count("shared_intermediate_size", default=0):
        c.unsupported("a shared expert of this type")
    c.ignore("qk_norm_type", "use_qk_norm", "use_routing_bias", "use_mtp", "attn_type_list")
    c.ignore("mtp_transformer_layers")
    moe = mixture(
        c, n_experts=LOCAL, top_k_default=8, width=["intermediate_size"], router_bias="buffer"
    )
    modules = c.count("num_mtp_modules", default=0)
    return noted(every_layer(c, attend, moe), UNKNOWN_MODULES if modules else None)


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
    count, inner = n_layers(c), c.inner("sparse_attention_config")
    attend = attention(c, kv_default=4, head_dim=128, bias=False, qk_norm="head")
    mixers = {
        "full": {"attention": attend},
        "sparse": {"attention": attend | {"indexer": _indexer(c, inner)}},
    }
    listed = None if inner is None else inner.flags("sparse_attention_freq")
    if inner is not None:
        refuse_false(inner, "use_sparse_attention")
        inner.ignore("sparse_disable_index_value")
    if listed is not None and len(listed) < count:
        c.refuse("sparse_attention_config", f"{len(listed)} entries for {count} layers")
    mixer_of = kinds(c, count, lambda i: "sparse" if listed and listed[i] else "full", known=_KINDS)
    every = c.flags("moe_layer_freq") or [True] * count
    if len(every) < count:
        c.refuse("moe_layer_freq", f"{len(every)} entries for {count} layers")
    ffn_of = kinds(
        c, count, lambda i: "moe" if every[i] else "dense", key="mlp_layer_types", known=FFN
    )
    c.ignore("dense_intermediate_size", "shared_intermediate_size", "index_local_blocks")
    c.ignore("qk_norm_type", "use_gemma_norm", "use_routing_bias", "first_k_dense_replace")
    refuse_flags(c, "attention_output_gate")
    refuse_false(c, "use_qk_norm")
    moe = partial(
        mixture, c, n_experts=LOCAL, top_k_default=4, width=["intermediate_size"], shared=1,
        d_shared=c.size("shared_intermediate_size", default=3072), router_bias="buffer",
    )  # fmt: skip
    dense = partial(glu, c, width="dense_intermediate_size")
    tree = sparse(c, mixers, mixer_of, ffn_of, moe, dense=dense)
    if c.type == "minimax_m3":  # a file of the text model alone: the whole has a tower
        tree |= {"scope": "text"}
    modules = [c.count(key, default=0) for key in ("num_mtp_modules", "num_nextn_predict_layers")]
    return noted(tree, UNKNOWN_MODULES if any(modules) else None)


def _indexer(c: Config, inner: Config | None) -> Tree:
    """Sizes at the top level, or under the original code's names, which go first."""
    sizes = {}
    for field, (key, legacy, default) in _INDEX.items():
        own = c.size(key, default=default)
        sizes[field] = own if inner is None else inner.size(legacy, default=own)
    return sizes
