"""ProphetNet: a decoder that predicts several tokens ahead."""

from __future__ import annotations

from txcalc.sources.readers.common import given
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.seq2seq import Made, Side, described, stack


def prophetnet(c: Config) -> Tree:
    """arXiv:2001.04063: ``ngram`` streams beside the main one, which no part describes."""
    c.ignore("relative_max_distance", "disable_ngram_loss", "eps")
    if c.task == "causal":
        c.ignore_all("encoder_", "num_encoder_")
        c.ignore("num_attention_heads")

    def made(side: Side) -> Made:
        fields = {"positions": _positions(c), "embedding_norm": "layer"}
        return {side: _block(c, side)}, stack(n_layers(c, f"num_{side}_layers"), side, **fields)

    tied = c.flag("tie_word_embeddings", default=True)
    tensors = {"ngram": {"use": "lookup", "dims": [c.size("ngram", default=2), "d_model"]}}
    if c.task == "causal" and not tied:
        tensors["shared"] = {"use": "lookup", "dims": ["vocab", "d_model"]}
    return described(
        c,
        made,
        d_model=c.size("hidden_size"),
        vocab=c.size("vocab_size"),
        tied=tied,
        context=c.size("max_position_embeddings"),
        tensors=tensors,
    )


def _block(c: Config, side: Side) -> Tree:
    """The decoder scores distances by a projection of its own; FFNs have a width for each side."""
    aliases = ["num_attention_heads"] if side == "encoder" else []
    heads = c.size(f"num_{side}_attention_heads", *aliases)
    part = {"kind": "mha", "n_heads": heads, "bias": True}
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": part,
        "ffn": {"kind": "plain", "d_ff": c.size(f"{side}_ffn_dim"), "bias": True},
    }
    if side == "encoder":
        return block
    wide = c.size("num_buckets", default=32) * heads
    distances = {"use": "matmul", "dims": [wide, "d_model"]}
    cross = c.flag("add_cross_attention", default=True)
    block |= given(cross_attention=part if cross else None)
    tensors = {"distances": distances, "distances_bias": {"use": "bias", "dims": [wide]}}
    return block | {"tensors": tensors, "partial": True}


def _positions(c: Config) -> Tree:
    return {"kind": "learned", "n_positions": c.size("max_position_embeddings")}
