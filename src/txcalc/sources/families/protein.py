"""Encoders of proteins: ESM-2 and ESM C."""

from __future__ import annotations

from txcalc.sources.readers.common import glu
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import attention, encoder, layer, learned


def esm(c: Config) -> Tree:
    """doi:10.1126/science.ade2574: rotary or learned positions; a regression over all heads."""
    c.only("masked", "body")
    c.ignore("token_dropout", "esmfold_config", "vocab_list")
    if c.flag("is_folding_model", default=False):
        c.unsupported("the folding model")
    kind = c.word("position_embedding_type", default="absolute", known=("absolute", "rotary"))
    block = layer(c, placement="pre", absolute=False)
    contacts = c.size("num_hidden_layers") * c.size("num_attention_heads")
    regression = {"contacts": {"use": "elementwise", "dims": [contacts]}}
    before = "layer" if c.flag("emb_layer_norm_before", default=False) else "none"
    return encoder(
        c, block, positions=learned(c) if kind == "absolute" else {"kind": "rotary"},
        embedding_norm=before, final_norm="layer",
        tensors=regression | {"contacts_bias": {"use": "bias", "dims": [1]}},
    )  # fmt: skip


def esmc(c: Config) -> Tree:
    """ESM Cambrian: gated FFNs, queries and keys normalised over all heads."""
    c.only("masked", "body")
    c.ignore("tie_word_embeddings")
    heads, width = c.size("num_attention_heads"), c.size("hidden_size")
    if c.size("num_key_value_heads", default=heads) != heads:
        c.refuse("num_key_value_heads", f"not the {heads} query heads, which the class asks for")
    if c.size("head_dim", default=width // heads) * heads != width:
        c.refuse("head_dim", f"times {heads} heads is not hidden_size {width}")
    bias = c.flag("attention_bias", default=False)
    block = {
        "norm": "layer",
        "attention": attention(c, bias=bias, qk_norm="width", qk_norm_kind="layer_no_bias"),
        "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
    }
    return encoder(
        c, block, positions={"kind": "rotary"}, embedding_norm="none",
        final_norm="layer_no_bias", head={"tied": False}, pooled="never",
    )  # fmt: skip
