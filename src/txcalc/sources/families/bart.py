"""BART and its kin: two stacks as in arXiv:1706.03762, learned or sinusoidal positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from txcalc.sources.readers.common import given
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.seq2seq import Made, Side, described, stack

SINUSOIDAL: Tree = {"kind": "sinusoidal"}


def bart(c: Config) -> Tree:
    """arXiv:1910.13461: norms behind each sub-layer; two rows of positions that no token uses."""
    return two_stacks(c, placement="post", embedding_norm="layer", positions=learned(c, unused=2))


def mbart(c: Config) -> Tree:
    """arXiv:2001.08210: norms before each sub-layer and after the last."""
    return two_stacks(c, embedding_norm="layer", final_norm="layer", positions=learned(c, unused=2))


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
    """BART's layers without rows of positions to spare."""
    return two_stacks(c, placement="post", embedding_norm="layer", positions=learned(c))


def pegasus_x(c: Config) -> Tree:
    """arXiv:2208.04347: the encoder sees its own block of tokens and a few global ones."""
    c.only("conditional", "body")
    c.ignore("block_size", "stagger_local_blocks")
    n_global = c.size("num_global_tokens", default=32)
    norm = {"use": "norm", "dims": ["d_model"]}
    return two_stacks(
        c,
        final_norm="layer",
        bias=False,
        logits_bias=False,
        encoder={"tensors": {"global_norm": norm, "global_norm_bias": norm}, "partial": True},
        tensors={"global": {"use": "lookup", "dims": [n_global, "d_model"]}},
    )


def bigbird_pegasus(c: Config) -> Tree:
    """arXiv:2007.14062: the encoder sees blocks near by, at both ends and drawn at random."""
    kinds = ("block_sparse", "original_full")
    kind = c.word("attention_type", default="block_sparse", known=kinds)
    c.ignore("block_size", "num_random_blocks")
    if c.task == "causal":
        c.ignore("tie_word_embeddings")
    return two_stacks(
        c,
        final_norm="layer",
        positions=learned(c),
        bias=c.flag("use_bias", default=False),
        encoder=given(partial=kind == "block_sparse"),
        tied=False if c.task == "causal" else None,
    )


def led(c: Config) -> Tree:
    """arXiv:2004.05150: the encoder sees a window, and some tokens everything, by other weights."""
    c.only("conditional", "body")
    c.ignore("attention_window")
    whole: Tree = {}
    for name in ("global_q", "global_k", "global_v"):
        whole[name] = {"use": "matmul", "dims": ["d_model", "d_model"]}
        whole[f"{name}_bias"] = {"use": "bias", "dims": ["d_model"]}

    def made(side: Side) -> Made:
        block = layer(c, side, placement="post")
        if side == "encoder":
            block |= {"tensors": whole, "partial": True}
        n_positions = c.size(f"max_{side}_position_embeddings")
        positions = {"kind": "learned", "n_positions": n_positions}
        return {side: block}, stack(
            count(c, side), side, positions=positions, embedding_norm="layer"
        )

    context = c.size("max_decoder_position_embeddings")
    return usual_keys(c, made, context=context, logits_bias=True)


def two_stacks(
    c: Config,
    *,
    placement: str = "pre",
    positions: Tree = SINUSOIDAL,
    embedding_norm: str = "none",
    final_norm: str = "none",
    bias: bool = True,
    logits_bias: bool = True,
    encoder: Tree | None = None,
    alias: Side = "encoder",
    **more: Any,
) -> Tree:
    """``encoder`` is added to the encoder's blocks."""

    def made(side: Side) -> Made:
        own = layer(c, side, placement=placement, bias=bias, alias=alias)
        if side == "encoder":
            own |= encoder or {}
        fields = given(positions=positions, embedding_norm=embedding_norm, final_norm=final_norm)
        return {side: own}, stack(count(c, side, alias), side, **fields)

    return usual_keys(c, made, logits_bias=logits_bias, **more)


def usual_keys(
    c: Config,
    made: Callable[[Side], Made],
    *,
    vocab: int | None = None,
    context: int | None = None,
    tied: bool | None = None,
    logits_bias: bool = False,
    one_table: bool = False,
    tensors: Tree | None = None,
) -> Tree:
    """The usual keys; ``logits_bias`` is a row of zeros that checkpoints keep beside the head."""
    c.ignore(*_OLD)
    if logits_bias and c.task == "conditional":
        tensors = (tensors or {}) | {"final_logits_bias": {"use": "buffer", "dims": ["vocab"]}}
    if c.task == "causal":
        c.ignore("num_hidden_layers", "num_attention_heads")
        c.ignore_all("encoder_")
    return described(
        c,
        made,
        d_model=c.size("d_model", "hidden_size"),
        vocab=vocab or c.size("vocab_size"),
        context=context or c.size("max_position_embeddings"),
        tied=c.flag("tie_word_embeddings", default=True) if tied is None else tied,
        one_table=one_table,
        tensors=tensors or {},
    )


def layer(
    c: Config,
    side: Side,
    *,
    placement: str = "pre",
    bias: bool = True,
    alias: Side = "encoder",
) -> Tree:
    """A layer of one side; the keys without a side are other names of the ``alias`` side's."""
    names = [f"{side}_attention_heads", *(["num_attention_heads"] if side == alias else [])]
    part = {"kind": "mha", "n_heads": c.size(*names), **given(bias=bias)}
    cross = {"cross_attention": part} if side == "decoder" else {}
    ffn = {"kind": "plain", "d_ff": c.size(f"{side}_ffn_dim"), "bias": True}
    shape = {"norm": "layer", "placement": placement}
    return {**shape, "attention": part, **cross, "ffn": ffn}


def count(c: Config, side: Side, alias: Side = "encoder") -> int:
    """The layers of one side."""
    return n_layers(c, f"{side}_layers", *(["num_hidden_layers"] if side == alias else []))


def learned(c: Config, *, unused: int = 0) -> Tree:
    """A table of positions; some have rows at the start that no token uses."""
    return {"kind": "learned", "n_positions": c.size("max_position_embeddings") + unused}


_OLD = (
    "normalize_before", "normalize_embedding", "add_bias_logits", "add_final_layer_norm",
    "static_position_embeddings", "extra_pos_embeddings", "classif_dropout", "output_past",
    "force_bos_token_to_be_generated", "do_blenderbot_90_layernorm", "layernorm_variant",
    "encoder_layerdrop", "decoder_layerdrop",
)  # fmt: skip
"""Keys that today's classes do not read."""
