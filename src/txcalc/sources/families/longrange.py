"""Encoders for long texts: attention that is windowed, approximated, hashed or replaced."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import (
    SECOND_BIAS,
    dense,
    encoder,
    labels,
    layer,
    learned,
    lookup,
    norm,
)


def longformer(c: Config) -> Tree:
    """arXiv:2004.05150: windows, and projections of their own for tokens that see everything."""
    c.only("masked", "body")
    c.ignore("attention_window", "onnx_export")
    tensors: Tree = {}
    for name in ("global_q", "global_k", "global_v"):
        tensors |= dense(name, "d_model", "d_model")
    block = layer(c, decodes=False, partial=True, tensors=tensors)
    return encoder(
        c, block, positions=learned(c), token_types=c.count("type_vocab_size", default=2),
        untied=SECOND_BIAS,
    )  # fmt: skip


def mra(c: Config) -> Tree:
    """arXiv:2207.10284: attention approximated at several resolutions."""
    c.ignore("block_per_row", "approx_mode", "initial_prior_first_n_blocks")
    c.ignore("initial_prior_diagonal_n_blocks")
    return _approximate(c, types=1)


def nystromformer(c: Config) -> Tree:
    """arXiv:2102.03902: attention by landmarks, and a convolution of the values in each head."""
    c.ignore("segment_means_seq_len", "num_landmarks", "inv_coeff_init_option")
    taps = c.maybe("conv_kernel_size") or (None if c.null("conv_kernel_size") else 65)
    return _approximate(c, types=2, taps=taps)


def yoso(c: Config) -> Tree:
    """arXiv:2111.09714: attention by sampled hashes."""
    c.ignore("use_expectation", "hash_code_len", "num_hash", "use_fast_hash", "lsh_backward")
    return _approximate(c, types=1, taps=c.maybe("conv_window"))


def _approximate(c: Config, *, types: int, taps: int | None = None) -> Tree:
    c.only("masked", "body")
    heads = c.size("num_attention_heads")
    tensors = {} if taps is None else dense("conv", heads, taps, bias=False)
    block = layer(c, decodes=False, partial=True, tensors=tensors)
    return encoder(
        c, block, positions=learned(c, 2), token_types=c.count("type_vocab_size", default=types),
        untied=SECOND_BIAS, pooled="never",
    )  # fmt: skip


def fnet(c: Config) -> Tree:
    """arXiv:2105.03824: Fourier transforms in place of attention."""
    c.only("masked", "body")
    c.ignore("use_tpu_fourier_optimizations", "tpu_short_seq_length")
    block = {
        "norm": "layer",
        "placement": "post",
        "ffn": {"kind": "plain", "d_ff": c.size("intermediate_size"), "bias": True},
        "tensors": norm("mixing_norm"),
        "partial": True,
    }
    return encoder(
        c, block, positions=learned(c), token_types=c.count("type_vocab_size", default=4),
        tensors=dense("embedding_project", "d_model", "d_model"), pooled="always",
        untied=SECOND_BIAS, pretraining=labels(2),
    )  # fmt: skip


def funnel(c: Config) -> Tree:
    """arXiv:2006.03236: blocks of layers over ever fewer tokens, and a decoder over all again."""
    c.only("masked", "body")
    c.ignore("block_repeats", "pooling_type", "attention_type", "separate_cls", "truncate_seq")
    c.ignore("pool_q_only", "initializer_std", "num_hidden_layers")
    heads, width = c.size("n_head", "num_attention_heads"), c.size("d_head", default=64)
    sizes = c.sizes("block_sizes")
    if sizes is None:
        c.refuse("block_sizes", "missing, but it is needed")
    inner = heads * width
    biases = {f"r_{name}_bias": {"use": "bias", "dims": [inner]} for name in "wrs"}
    tensors = dense("r", inner, "d_model", bias=False) | biases
    tensors["segments"] = {"use": "elementwise", "dims": [2, inner]}
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": {"kind": "mha", "n_heads": heads, "head_dim": width, "bias": ["k", "v", "o"]},
        "ffn": {"kind": "plain", "d_ff": c.size("d_inner"), "bias": True},
        "tensors": tensors,
        "partial": True,
    }
    found = dense("replaced", "d_model", "d_model") | dense("replaced_score", 1, "d_model")
    described = encoder(
        c, block, sum(sizes) + c.count("num_decoder_layers", default=2),
        head={"transform": None}, pooled="never", pretraining=found,
        width=("d_model", "hidden_size"),
    )  # fmt: skip
    if "replaced" in described.get("tensors", {}):
        del described["head"]
    return described


def reformer(c: Config) -> Tree:
    """arXiv:2001.04451: hashed and local attention, reversible layers of two streams."""
    c.ignore(*_REFORMER_CHUNKS)
    decodes = c.flag("is_decoder", default=False)
    if decodes != (c.task == "causal") and c.task != "body":
        c.refuse("is_decoder", f"the {c.task} class asks for the contrary")
    kinds = c.words("attn_layers")
    if not kinds:
        c.refuse("attn_layers", "missing or empty, but it is needed")
    if c.count("num_hidden_layers", default=len(kinds)) != len(kinds):
        c.refuse("num_hidden_layers", f"attn_layers has {len(kinds)} entries")
    if not set(kinds) <= {"lsh", "local"}:
        c.refuse("attn_layers", "other kinds than lsh and local are not modelled")
    width = c.size("hidden_size")
    more: Tree = {}
    tables: Tree = {}
    if c.flag("axial_pos_embds", default=True):
        tables = _axial(c, width)
    else:
        more = {"positions": learned(c)}
    tables |= norm("last_norm", 2 * width)
    blocks = {kind: _reformer_layer(c, hashed=kind == "lsh") for kind in ("lsh", "local")}
    return encoder(
        c, blocks, kinds, embedding_norm="none", tensors=tables, untied=SECOND_BIAS,
        head={"tied": False, "transform": None, "d_head": 2 * width}, pooled="never", **more,
    )  # fmt: skip


_REFORMER_CHUNKS = (
    "axial_norm_std", "chunk_size_lm_head", "hash_seed", "local_num_chunks_before",
    "local_num_chunks_after", "local_attn_chunk_length", "lsh_attn_chunk_length",
    "lsh_num_chunks_before", "lsh_num_chunks_after", "num_buckets", "num_hashes",
    "tie_word_embeddings", "axial_pos_shape", "axial_pos_embds_dim", "feed_forward_dropout",
)  # fmt: skip


def _axial(c: Config, width: int) -> Tree:
    """One table for each axis of the positions, whose widths add up to the layers'."""
    shape = c.sizes("axial_pos_shape") or [64, 64]
    dims = c.sizes("axial_pos_embds_dim", length=len(shape)) or [64, 192]
    if sum(dims) != width or len(dims) != len(shape):
        c.refuse("axial_pos_embds_dim", f"{dims} do not add up to hidden_size {width}")
    return {
        f"positions{axis}": lookup(rows, part)
        for axis, (rows, part) in enumerate(zip(shape, dims, strict=True))
        if rows * part
    }


def _reformer_layer(c: Config, *, hashed: bool) -> Tree:
    inner = c.size("num_attention_heads") * c.size("attention_head_size", default=64)
    names = ("qk", "v") if hashed else ("q", "k", "v")
    tensors: Tree = {}
    for name in names:
        tensors |= dense(name, inner, "d_model", bias=False)
    tensors |= dense("o", "d_model", inner, bias=False) | norm("attention_norm")
    return {
        "norm": "layer",
        "ffn": {"kind": "plain", "d_ff": c.size("feed_forward_size"), "bias": True},
        "tensors": tensors,
        "partial": True,
    }
