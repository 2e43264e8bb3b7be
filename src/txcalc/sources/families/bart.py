"""BART and its successors: two stacks as in arXiv:1706.03762, learned or sinusoidal positions."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.parts import global_projections, learned, mha, plain
from txcalc.sources.readers.seq2seq import (
    IDLE,
    SINUSOIDAL,
    Made,
    Side,
    by_bart,
    described,
    side_layer,
    side_layers,
    stack,
    two_stacks,
    without_encoder,
)
from txcalc.sources.readers.trees import dense, given, layer_norm, lookup, tensor


def bart(c: Config) -> Tree:
    """arXiv:1910.13461: norms behind each sub-layer; two rows of positions that no token uses."""
    return two_stacks(c, placement="post", embedding_norm="layer", positions=learned(c, 2))


def mbart(c: Config) -> Tree:
    """arXiv:2001.08210: norms before each sub-layer and after the last."""
    return two_stacks(c, embedding_norm="layer", final_norm="layer", positions=learned(c, 2))


def mvp(c: Config) -> Tree:
    """arXiv:2206.12131: BART; its prompts are refused, since class and checkpoints differ."""
    if c.flag("use_prompt", default=False) and c.task != "causal":
        c.unsupported("a prompt in every layer (use_prompt)")
    c.ignore("prompt_length", "prompt_mid_dim")
    return bart(c)


def pegasus(c: Config) -> Tree:
    """arXiv:1912.08777 and arXiv:2004.13637 (Blenderbot): norms before, a table of positions."""
    return two_stacks(c, final_norm="layer", positions=learned(c))


def blenderbot_small(c: Config) -> Tree:
    """BART's layers without unused rows of positions."""
    return two_stacks(c, placement="post", embedding_norm="layer", positions=learned(c))


def pegasus_x(c: Config) -> Tree:
    """arXiv:2208.04347: the encoder attends to its own block and a few global tokens."""
    c.only("conditional", "body")
    c.ignore("block_size", "stagger_local_blocks")
    n_global = c.size("num_global_tokens", default=32)
    return two_stacks(
        c, final_norm="layer", bias=False, logits_bias=False,
        encoder={"tensors": layer_norm("global_norm"), "partial": True},
        tensors={"global": lookup(n_global)},
    )  # fmt: skip


def bigbird_pegasus(c: Config) -> Tree:
    """arXiv:2007.14062: the encoder attends to blocks near by, at both ends, at random."""
    kinds = ("block_sparse", "original_full")
    kind = c.word("attention_type", default="block_sparse", known=kinds)
    c.ignore("block_size", "num_random_blocks")
    if c.task == "causal":
        c.ignore("tie_word_embeddings")
    return two_stacks(
        c, final_norm="layer", positions=learned(c), bias=c.flag("use_bias", default=False),
        encoder=given(partial=kind == "block_sparse"), tied=False if c.task == "causal" else None,
    )  # fmt: skip


def led(c: Config) -> Tree:
    """arXiv:2004.05150: windows in the encoder, and other weights for global tokens."""
    c.only("conditional", "body")
    c.ignore("attention_window")

    def made(side: Side) -> Made:
        block = side_layer(c, side, placement="post")
        if side == "encoder":
            block |= {"tensors": global_projections(), "partial": True}
        rows = c.size(f"max_{side}_position_embeddings")
        fields = {"positions": {"kind": "learned", "n_positions": rows}, "embedding_norm": "layer"}
        return {side: block}, stack(side_layers(c, side), side, **fields)

    return by_bart(c, made, context=c.size("max_decoder_position_embeddings"))


def trocr(c: Config) -> Tree:
    """arXiv:2109.10282: BART's decoder behind an image encoder, whose states may be wider."""
    c.only("causal")
    learns = c.flag("use_learned_position_embeddings", default=True)
    norm = "layer" if c.flag("layernorm_embedding", default=True) else "none"
    d_model, context = c.size("d_model", "hidden_size"), c.size("max_position_embeddings")
    block = side_layer(c, "decoder", placement="post", alias="decoder")
    block = without_encoder(block, d_model, c.maybe("cross_attention_hidden_size"))
    positions = learned(c, 2) if learns else SINUSOIDAL
    count = side_layers(c, "decoder", "decoder")
    return {
        "d_model": d_model,
        "vocab": c.size("vocab_size"),
        "context": context,
        "blocks": {"decoder": block},
        "layers": stack(count, "decoder", positions=positions, embedding_norm=norm),
        "head": {"tied": c.flag("tie_word_embeddings", default=True)},
        "notes": [IDLE],
    }


def prophetnet(c: Config) -> Tree:
    """arXiv:2001.04063: ``ngram`` streams beside the main one, which no part describes."""
    if c.task == "causal":
        c.ignore_all("encoder_", "num_encoder_")
        c.ignore("num_attention_heads")

    def made(side: Side) -> Made:
        count = n_layers(c, f"num_{side}_layers")
        fields = {"positions": learned(c), "embedding_norm": "layer"}
        return {side: _prophetnet(c, side)}, stack(count, side, **fields)

    tied = c.flag("tie_word_embeddings", default=True)
    tensors = {"ngram": lookup(c.size("ngram", default=2))}
    if c.task == "causal" and not tied:
        tensors["shared"] = tensor("lookup", "vocab", "d_model")
    return described(
        c, made, d_model=c.size("hidden_size"), vocab=c.size("vocab_size"), tied=tied,
        context=c.size("max_position_embeddings"), tensors=tensors,
    )  # fmt: skip


def _prophetnet(c: Config, side: Side) -> Tree:
    """The decoder scores distances by a projection of its own; FFNs have a width for each side."""
    aliases = ["num_attention_heads"] if side == "encoder" else []
    heads = c.size(f"num_{side}_attention_heads", *aliases)
    part, ffn = mha(heads, bias=True), plain(c, width=f"{side}_ffn_dim", bias=True)
    block = {"norm": "layer", "placement": "post", "attention": part, "ffn": ffn}
    if side == "encoder":
        return block
    wide = c.size("num_buckets", default=32) * heads
    cross = c.flag("add_cross_attention", default=True)
    block |= given(cross_attention=part if cross else None)
    return block | {"tensors": dense("distances", wide, "d_model"), "partial": True}
