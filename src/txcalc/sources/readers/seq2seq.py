"""What encoder-decoder families share: two stacks, their token tables, and one stack alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from txcalc.sources.readers.common import given
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import pattern

Side = Literal["encoder", "decoder"]
Made = tuple[Mapping[str, Tree], Tree]
"""The blocks of a stack, and the stack."""

FIELDS: dict[Side, str] = {"encoder": "encoder", "decoder": "layers"}
IDLE = "the class has no encoder: its cross-attention has weights, but never runs"


def sides(c: Config) -> tuple[Side, ...]:
    """The stacks that the class has: both, the decoder of a causal one, or the encoder alone."""
    c.only("conditional", "causal", "body")
    if c.task == "causal":
        return ("decoder",)
    named = c.raw("architectures")
    alone = isinstance(named, list) and named and str(named[0]).endswith("EncoderModel")
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

    Untied, each stack has a token table of its own beside the shared one, which then nobody reads,
    unless there is but ``one_table``.
    """
    there = sides(c)
    blocks: Tree = {}
    stacks: Tree = {}
    for side in there:
        found, stacks[FIELDS[side]] = made(side)
        blocks |= found
    tensors = tensors or {}
    if there != ("decoder",) and not tied and not one_table:
        stacks = {name: fields | {"vocab": vocab} for name, fields in stacks.items()}
        tensors = tensors | {"shared": {"use": "lookup", "dims": ["vocab", "d_model"]}}
    if there == ("decoder",):
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
    cross, rest = (
        block["cross_attention"],
        {k: v for k, v in block.items() if k != "cross_attention"},
    )
    head_dim = cross.get("head_dim") or d_model // cross["n_heads"]
    queries, keys = (
        cross["n_heads"] * head_dim,
        cross.get("n_kv_heads", cross["n_heads"]) * head_dim,
    )
    source = source or d_model
    shapes = {
        "q": [queries, d_model],
        "k": [keys, source],
        "v": [keys, source],
        "o": [d_model, queries],
    }
    biased = cross.get("bias", False)
    tensors: Tree = {}
    for name, shape in shapes.items():
        tensors[f"cross_{name}"] = {"use": "matmul", "dims": shape, "stream": "none"}
        if biased is True or (biased and name in biased):
            tensors[f"cross_{name}_bias"] = {"use": "bias", "dims": shape[:1]}
    names = ["cross_norm"] + (["cross_norm_bias"] if block["norm"] == "layer" else [])
    tensors |= {name: {"use": "norm", "dims": ["d_model"]} for name in names}
    return rest | {"tensors": rest.get("tensors", {}) | tensors}
