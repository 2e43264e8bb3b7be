"""BLOOM and MPT: decoders without a position table."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers
from txcalc.sources.readers.parts import mha

_WIDTH = ("hidden_size", "n_embed")
_HEADS = ("num_attention_heads", "n_head")
_LAYERS = ("num_hidden_layers", "n_layer")


def bloom(c: Config) -> Tree:
    """arXiv:2211.05100: ALiBi, a norm of the embeddings, FFNs of 4 d_model."""
    c.only("causal", "body")
    c.ignore("apply_residual_connection_post_layernorm", "n_inner")
    block = {
        "norm": "layer",
        "attention": mha(c.size(*_HEADS), bias=True),
        "ffn": {"kind": "plain", "d_ff": 4 * c.size(*_WIDTH), "bias": True},
    }
    return decoder(
        c, {"decoder": block}, n_layers(c, *_LAYERS), tied=True, embedding_norm="layer",
        final_norm="layer", positions={"kind": "alibi"}, width=_WIDTH, limit=("seq_length",),
    )  # fmt: skip


def mpt(c: Config) -> Tree:
    """MosaicML's MPT: ALiBi, LayerNorm without bias, no bias anywhere, FFNs of 4 d_model."""
    c.only("causal", "body")
    c.ignore("learned_pos_emb", "embedding_fraction", "norm_type", "use_lm_head", "use_bias")
    c.ignore("use_norm_bias", "verbose")
    width = ("d_model", "hidden_size")
    for part in (c, c.inner("attn_config")):
        if part is not None:
            _as_the_class_has_it(part)
    if c.number("expansion_ratio", default=4) != 4 or not c.flag("no_bias", default=True):
        c.unsupported("an expansion_ratio other than 4, or biases, of type 'mpt'")
    block = {
        "norm": "layer_no_bias",
        "attention": mha(c.size("n_heads", "num_attention_heads")),
        "ffn": {"kind": "plain", "d_ff": 4 * c.size(*width)},
    }
    return decoder(
        c, {"decoder": block}, n_layers(c, "n_layers", "num_hidden_layers"), tied=True,
        final_norm="layer_no_bias", positions={"kind": "alibi"}, width=width,
        limit=("max_seq_len",),
    )  # fmt: skip


def _as_the_class_has_it(c: Config) -> None:
    """Refuses what MosaicML's own code builds, but the class does not."""
    c.ignore("prefix_lm", "attn_uses_sequence_id", "model_type", "architectures")
    kind = c.word("attn_type", default="multihead_attention")
    if c.flag("qk_ln", default=False) or not c.flag("alibi", default=True):
        c.unsupported("qk_ln, or positions other than ALiBi, of type 'mpt'")
    if kind != "multihead_attention":
        c.unsupported(f"attn_type {kind!r} of type 'mpt'")
