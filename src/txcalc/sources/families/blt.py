"""The byte latent transformer: bytes, patches of them, and a small model that finds the patches."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.seq2seq import stack
from txcalc.sources.readers.trees import given, tensor

LEVELS = ("patcher", "encoder", "global", "decoder")


def blt(c: Config) -> Tree:
    """arXiv:2412.09871: four stacks, each of a width of its own, which no part puts together."""
    c.only("causal", "body")
    c.ignore_all("patch", "local_attention_window_len", "max_patch_length")
    levels = [n for n in LEVELS if n != "patcher" or c.flag("patch_in_forward", default=True)]
    parts = {name: c.needed(f"{name}_config") for name in levels}
    encoder, decoder = parts["encoder"], parts["decoder"]
    vocab, bytes_ = c.size("vocab_size"), encoder.size("vocab_size")
    tied = c.task != "body" and c.flag("tie_word_embeddings", default=False)
    if tied and (vocab, decoder.size("hidden_size")) != (bytes_, encoder.size("hidden_size")):
        c.refuse("tie_word_embeddings", "table and head are of two sizes, and cannot be one tensor")
    counts = {name: n_layers(part) for name, part in parts.items()}
    layers = [name for name in levels for _ in range(counts[name])]
    head = {"tied": tied, "d_head": decoder.size("hidden_size")}
    return {
        "d_model": encoder.size("hidden_size"),
        "vocab": vocab,
        **given(context=c.maybe("max_position_embeddings")),
        "blocks": {name: _block(part) for name, part in parts.items()},
        "layers": stack(layers, vocab=bytes_),
        **({} if c.task == "body" else {"head": head}),
        "tensors": _between(c, parts),
    }


def _block(c: Config) -> Tree:
    """Llama's layer at the width of its level."""
    d_model, d_ff = c.size("hidden_size"), _d_ff(c)
    tensors = _attention(c, "")
    tensors |= {name: tensor("matmul", d_ff, d_model) for name in ("gate", "up")}
    tensors["down"] = tensor("matmul", d_model, d_ff)
    tensors |= {name: tensor("norm", d_model) for name in ("attention_norm", "ffn_norm")}
    return {"norm": "none", "tensors": tensors, "partial": True}


def _d_ff(c: Config) -> int:
    """The file's, else 8/3 of the width."""
    c.ignore("head_dim", "sliding_window", "encoder_cross_output_size")
    derived = c.null("intermediate_size") or c.type == "blt_local_encoder"
    return c.maybe("intermediate_size") or (
        8 * c.size("hidden_size") // 3 if derived else c.size("intermediate_size")
    )


def _attention(c: Config, prefix: str) -> Tree:
    d_model, heads = c.size("hidden_size"), c.size("num_attention_heads")
    width = d_model // heads
    queries, keys = heads * width, c.size("num_key_value_heads", default=heads) * width
    shapes = {"q": [queries, d_model], "k": [keys, d_model], "v": [keys, d_model]}
    shapes["o"] = [d_model, queries]
    return {f"{prefix}{name}": tensor("matmul", *dims) for name, dims in shapes.items()}


def _between(c: Config, parts: dict[str, Config]) -> Tree:
    """What joins the levels: cross-attention, projections of patches, a table of byte groups."""
    encoder, whole, decoder = parts["encoder"], parts["global"], parts["decoder"]
    wide, narrow = encoder.size("hidden_size"), decoder.size("hidden_size")
    tensors: Tree = {}
    for name, every in (("encoder", False), ("decoder", True)):
        tensors |= _across(parts[name], f"{name}_cross_", every=every)
    groups = c.sizes("encoder_hash_byte_group_size") or range(3, 9)
    functions = c.size("encoder_hash_byte_group_nb_functions", default=1)
    rows = c.size("encoder_hash_byte_group_vocab", default=500002) * functions * len(groups)
    tensors["byte_groups"] = tensor("lookup", rows, wide)
    shapes = {
        "encoder_patches": [wide * encoder.size("cross_attn_k", default=2), wide],
        "decoder_patches": [
            narrow * decoder.size("cross_attn_k", default=2),
            decoder.size("hidden_size_global", default=2048),
        ],
    }
    joined = wide * c.size("cross_attn_k", default=2)
    if joined != whole.size("hidden_size"):
        shapes["global_in"] = [whole.size("hidden_size"), joined]
    if "patcher" in parts:
        patcher = parts["patcher"]
        shapes["patcher_head"] = [patcher.size("vocab_size"), patcher.size("hidden_size")]
        tensors["patcher_tokens"] = tensor("lookup", *shapes["patcher_head"])
        tensors["patcher_norm"] = tensor("norm", *shapes["patcher_head"][1:])
    tensors |= {name: tensor("matmul", *dims) for name, dims in shapes.items()}
    encoder.ignore("hidden_size_global")
    return tensors | {"decoder_norm": tensor("norm", narrow)}


def _across(c: Config, prefix: str, *, every: bool) -> Tree:
    """Cross-attention between bytes and patches, in every layer or once, with norms of its own."""
    all_layers = c.flag("cross_attn_all_layers", default=every)
    copies = n_layers(c) if all_layers else 1
    norms = {f"{prefix}{n}_norm": tensor("norm", c.size("hidden_size")) for n in "qk"}
    return {name: t | {"copies": copies} for name, t in (_attention(c, prefix) | norms).items()}
