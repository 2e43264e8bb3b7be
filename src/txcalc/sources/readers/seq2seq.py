"""What encoder-decoder families share: two stacks, their token tables, and one stack alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers, pattern
from txcalc.sources.readers.parts import mha, plain
from txcalc.sources.readers.trees import given, tensor

Side = Literal["encoder", "decoder"]
Made = tuple[Mapping[str, Tree], Tree]
"""The blocks of a stack, and the stack."""

FIELDS: dict[Side, str] = {"encoder": "encoder", "decoder": "layers"}
SINUSOIDAL: Tree = {"kind": "sinusoidal"}
IDLE = "the class has no encoder: its cross-attention has weights, but never runs"


def sides(c: Config) -> tuple[Side, ...]:
    """The stacks that the class has: both, the decoder of a causal one, or the encoder alone.

    A classifier of tokens has the encoder alone (T5ForTokenClassification).
    """
    c.only("conditional", "causal", "body")
    if c.task == "causal":
        return ("decoder",)
    alone = c.class_.endswith("EncoderModel") or c.head == "tokens"
    return ("encoder",) if alone else ("encoder", "decoder")


def stack(layers: Sequence[str] | int, block: str = "", **fields: object) -> Tree:
    """Layers of one block, or of the block that is named for each."""
    if isinstance(layers, int):
        return {"count": layers, "pattern": [block], **given(**fields)}
    return pattern(layers) | given(**fields)


def described(
    c: Config,
    made: Callable[[Side], Made],
    *,
    d_model: int,
    vocab: int,
    tied: bool,
    context: int | None = None,
    one_table: bool = False,
    tensors: Tree | None = None,
) -> Tree:
    """The stacks of the class under one vocabulary.

    Untied, each stack has a token table of its own beside the shared one, which then nothing reads,
    unless there is but ``one_table``.
    """
    present = sides(c)
    blocks: Tree = {}
    stacks: Tree = {}
    for side in present:
        own, stacks[FIELDS[side]] = made(side)
        blocks |= own
    tensors = tensors or {}
    if present != ("decoder",) and not tied and not one_table:
        stacks = {name: fields | {"vocab": vocab} for name, fields in stacks.items()}
        tensors = tensors | {"shared": tensor("lookup", "vocab", "d_model")}
    if present == ("decoder",):
        blocks = {name: without_encoder(block, d_model) for name, block in blocks.items()}
    idle = any("cross_q" in block.get("tensors", {}) for block in blocks.values())
    return {
        "d_model": d_model,
        "vocab": vocab,
        **given(context=context),
        "blocks": blocks,
        **stacks,
        **({} if c.task == "body" else {"head": {"tied": tied}}),
        **({"tensors": tensors} if tensors else {}),
        **({"notes": [IDLE]} if idle else {}),
    }


def without_encoder(block: Tree, d_model: int, source: int | None = None) -> Tree:
    """A decoder's block whose cross-attention, to states ``source`` wide, never runs."""
    if "cross_attention" not in block:
        return block
    cross = block["cross_attention"]
    head_dim = cross.get("head_dim") or d_model // cross["n_heads"]
    queries = cross["n_heads"] * head_dim
    keys = cross.get("n_kv_heads", cross["n_heads"]) * head_dim
    source = source or d_model
    shapes = {"q": (queries, d_model), "k": (keys, source), "v": (keys, source)}
    shapes["o"] = (d_model, queries)
    biased = cross.get("bias", False)
    tensors: Tree = {}
    for name, shape in shapes.items():
        tensors[f"cross_{name}"] = tensor("matmul", *shape, stream="none")
        if biased is True or (biased and name in biased):
            tensors[f"cross_{name}_bias"] = tensor("bias", shape[0])
    for name in ["cross_norm"] + (["cross_norm_bias"] if block["norm"] == "layer" else []):
        tensors[name] = tensor("norm", "d_model")
    rest = {name: field for name, field in block.items() if name != "cross_attention"}
    return rest | {"tensors": rest.get("tensors", {}) | tensors}


def two_stacks(
    c: Config,
    *,
    placement: str = "pre",
    positions: Tree = SINUSOIDAL,
    embedding_norm: str = "none",
    final_norm: str = "none",
    bias: bool = True,
    encoder: Tree | None = None,
    alias: Side = "encoder",
    **more: Any,
) -> Tree:
    """BART's stacks, with a family's differences; ``encoder`` is added to the encoder's blocks.

    The rest are the differences of :func:`by_bart`.
    """

    def made(side: Side) -> Made:
        own = side_layer(c, side, placement=placement, bias=bias, alias=alias)
        if side == "encoder":
            own |= encoder or {}
        fields = given(positions=positions, embedding_norm=embedding_norm, final_norm=final_norm)
        return {side: own}, stack(side_layers(c, side, alias), side, **fields)

    return by_bart(c, made, **more)


def by_bart(
    c: Config,
    made: Callable[[Side], Made],
    *,
    vocab: int | None = None,
    context: int | None = None,
    tied: bool | None = None,
    logits_bias: bool = True,
    one_table: bool = False,
    tensors: Tree | None = None,
) -> Tree:
    """Two stacks by BART's keys.

    ``logits_bias`` is a row of zeros that checkpoints keep beside the head.
    """
    c.ignore(*_OLD)
    tensors = tensors or {}
    if logits_bias and c.task == "conditional":
        tensors = tensors | {"final_logits_bias": tensor("buffer", "vocab")}
    if c.task == "causal":
        c.ignore("num_hidden_layers", "num_attention_heads")
        c.ignore_all("encoder_")
    return described(
        c, made,
        d_model=c.size("d_model", "hidden_size"),
        vocab=vocab or c.size("vocab_size"),
        context=context or c.size("max_position_embeddings"),
        tied=c.flag("tie_word_embeddings", default=True) if tied is None else tied,
        one_table=one_table, tensors=tensors,
    )  # fmt: skip


_OLD = (
    "normalize_before", "normalize_embedding", "add_bias_logits", "add_final_layer_norm",
    "static_position_embeddings", "extra_pos_embeddings", "do_blenderbot_90_layernorm",
    "layernorm_variant",
)  # fmt: skip
"""Keys that today's classes do not read."""


def side_layer(
    c: Config,
    side: Side,
    *,
    placement: str | None = "pre",
    bias: bool | list[str] = True,
    alias: Side = "encoder",
) -> Tree:
    """A layer of one side; the keys without a side are other names of the ``alias`` side's."""
    names = [f"{side}_attention_heads", *(["num_attention_heads"] if side == alias else [])]
    part = mha(c.size(*names), bias=bias)
    return {
        "norm": "layer",
        **given(placement=placement),
        "attention": part,
        **given(cross_attention=part if side == "decoder" else None),
        "ffn": plain(c, width=f"{side}_ffn_dim", bias=True),
    }


def side_layers(c: Config, side: Side, alias: Side = "encoder") -> int:
    """The layers of one side."""
    return n_layers(c, f"{side}_layers", *(["num_hidden_layers"] if side == alias else []))
