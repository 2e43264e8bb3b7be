"""ESM, encoders of proteins."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import encoder, layer
from txcalc.sources.readers.parts import glu, learned, mha
from txcalc.sources.readers.trees import tensor


def esm(c: Config) -> Tree:
    """doi:10.1126/science.ade2574: rotary or learned positions; a regression over all heads."""
    c.only("masked", "body")
    c.ignore("esmfold_config", "vocab_list")
    if c.flag("is_folding_model", default=False):
        c.unsupported("the folding model")
    kind = c.word("position_embedding_type", default="absolute", known=("absolute", "rotary"))
    block = layer(c, placement="pre", absolute=False)
    contacts = c.size("num_hidden_layers") * c.size("num_attention_heads")
    regression = {"contacts": tensor("elementwise", contacts)}
    before = "layer" if c.flag("emb_layer_norm_before", default=False) else "none"
    return encoder(
        c, block, positions=learned(c) if kind == "absolute" else {"kind": "rotary"},
        embedding_norm=before, final_norm="layer",
        tensors=regression | {"contacts_bias": tensor("bias", 1)},
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
        "attention": mha(heads, bias=bias, qk_norm="width", qk_norm_kind="layer_no_bias"),
        "ffn": glu(c, bias="mlp_bias"),
    }
    return encoder(
        c, block, positions={"kind": "rotary"}, embedding_norm="none",
        final_norm="layer_no_bias", head={"tied": False}, pooled="never",
    )  # fmt: skip
