"""Encoders for long texts: attention that is windowed, approximated, hashed or replaced."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import SECOND_BIAS, encoder, labels, layer, token_types
from txcalc.sources.readers.parts import global_projections, learned, plain
from txcalc.sources.readers.trees import dense, layer_norm, lookup


def longformer(c: Config) -> Tree:
    """arXiv:2004.05150: windows, and projections of their own for global tokens."""
    c.only("masked", "body")
    c.ignore("attention_window")
    block = layer(c, decodes=False, partial=True, tensors=global_projections())
    return encoder(c, block, positions=learned(c), token_types=token_types(c), untied=SECOND_BIAS)


def mra(c: Config) -> Tree:
    """arXiv:2207.10284: attention approximated at several resolutions."""
    c.ignore("block_per_row", "approx_mode")
    c.ignore_all("initial_prior_")
    return _approximate(c, types=1)


def nystromformer(c: Config) -> Tree:
    """arXiv:2102.03902: attention by landmarks, and a convolution of the values in each head."""
    c.ignore("segment_means_seq_len", "num_landmarks")
    taps = c.maybe("conv_kernel_size") or (None if c.null("conv_kernel_size") else 65)
    return _approximate(c, types=2, taps=taps)


def yoso(c: Config) -> Tree:
    """arXiv:2111.09714: attention by sampled hashes."""
    c.ignore("use_expectation", "hash_code_len", "num_hash")
    return _approximate(c, types=1, taps=c.maybe("conv_window"))


def _approximate(c: Config, *, types: int, taps: int | None = None) -> Tree:
    c.only("masked", "body")
    heads = c.size("num_attention_heads")
    tensors = {} if taps is None else dense("conv", heads, taps, bias=False)
    block = layer(c, decodes=False, partial=True, tensors=tensors)
    return encoder(
        c, block, positions=learned(c, 2), token_types=token_types(c, types),
        untied=SECOND_BIAS, pooled="never",
    )  # fmt: skip


def fnet(c: Config) -> Tree:
    """arXiv:2105.03824: Fourier transforms in place of attention."""
    c.only("masked", "body")
    block = {
        "norm": "layer",
        "placement": "post",
        "ffn": plain(c, bias=True),
        "tensors": layer_norm("mixing_norm"),
        "partial": True,
    }
    return encoder(
        c, block, positions=learned(c), token_types=token_types(c, 4),
        tensors=dense("embedding_project", "d_model", "d_model"), pooled="always",
        untied=SECOND_BIAS, pretraining=labels(2),
    )  # fmt: skip


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
    tables |= layer_norm("last_norm", 2 * width)
    blocks = {kind: _reformer_layer(c, hashed=kind == "lsh") for kind in ("lsh", "local")}
    return encoder(
        c, blocks, kinds, embedding_norm="none", tensors=tables, untied=SECOND_BIAS,
        head={"tied": False, "transform": None, "d_head": 2 * width}, pooled="never", **more,
    )  # fmt: skip


_REFORMER_CHUNKS = (
    "chunk_size_lm_head", "local_num_chunks_before", "local_num_chunks_after",
    "local_attn_chunk_length", "lsh_attn_chunk_length", "lsh_num_chunks_before",
    "lsh_num_chunks_after", "num_buckets", "num_hashes", "tie_word_embeddings", "axial_pos_shape",
    "axial_pos_embds_dim",
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
    tensors |= dense("o", "d_model", inner, bias=False) | layer_norm("attention_norm")
    return {
        "norm": "layer",
        "ffn": plain(c, width="feed_forward_size", bias=True),
        "tensors": tensors,
        "partial": True,
    }
