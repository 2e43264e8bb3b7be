"""What encoders of BERT's line share: the stack, its heads, and what each class adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from txcalc.sources.config import Config
from txcalc.sources.families.common import (
    Tree,
    given,
    idle_cross_attention,
    n_layers,
    pattern,
    plain,
)

POOLER: Tree = {
    "pooler": {"use": "matmul", "dims": ["d_model", "d_model"], "stream": "sequence"},
    "pooler_bias": {"use": "bias", "dims": ["d_model"]},
}
"""A dense layer over the first token of each sequence."""

Pooled = Literal["body", "always", "never"]
"""Which classes have the pooler: the one without a head, all, or none."""


def labels(n: int, name: str = "next_sentence") -> Tree:
    """A classifier of each sequence, behind the pooler."""
    return {
        name: {"use": "matmul", "dims": [n, "d_model"], "stream": "sequence"},
        f"{name}_bias": {"use": "bias", "dims": [n]},
    }


def attention(c: Config, *, bias: bool | list[str] = True, **more: Any) -> Tree:
    """Multi-head attention by BERT's keys."""
    return {"kind": "mha", "n_heads": c.size("num_attention_heads")} | given(bias=bias, **more)


def layer(
    c: Config,
    *,
    placement: str = "post",
    bias: bool | list[str] = True,
    decodes: bool = True,
    absolute: bool = True,
    **fields: Any,
) -> Tree:
    """A layer of BERT; a type that ``decodes`` may have an idle cross-attention by flag."""
    if absolute and c.word("position_embedding_type", default="absolute") != "absolute":
        c.unsupported("a table of distances or rotation, by position_embedding_type,")
    idle = idle_cross_attention(c, bias=bias is True) if decodes else {}
    if idle and not c.flag("is_decoder", default=False):
        c.refuse("add_cross_attention", "only a decoder, by is_decoder, has it")
    block = {"norm": "layer", "placement": placement, "attention": attention(c, bias=bias)}
    block |= {"ffn": plain(c, bias=True), **fields}
    tensors = {**idle.get("tensors", {}), **fields.get("tensors", {})}
    return block | given(tensors=tensors or None)


def dense(name: str, out: int | str, inside: int | str, *, bias: bool = True) -> Tree:
    """A projection as tensors, with the bias that goes with it."""
    found: Tree = {name: {"use": "matmul", "dims": [out, inside]}}
    return found | ({f"{name}_bias": {"use": "bias", "dims": [out]}} if bias else {})


def norm(name: str, width: int | str = "d_model") -> Tree:
    """A norm with a bias as tensors."""
    return {n: {"use": "norm", "dims": [width]} for n in (name, f"{name}_bias")}


def lookup(rows: int, width: int | str = "d_model") -> Tree:
    """A table as a tensor."""
    return {"use": "lookup", "dims": [rows, width]}


def learned(c: Config, more: int = 0) -> Tree:
    """A position table, with some rows beyond the file's."""
    return {"kind": "learned", "n_positions": c.size("max_position_embeddings") + more}


def encoder(
    c: Config,
    blocks: Mapping[str, Tree] | Tree,
    layers: list[str] | int | None = None,
    *,
    positions: Tree | None = None,
    token_types: int = 0,
    embedding_norm: str = "layer",
    final_norm: str = "none",
    head: Tree | None = None,
    untied: Tree | None = None,
    pooled: Pooled = "body",
    pretraining: Tree | None = None,
    tensors: Tree | None = None,
    width: tuple[str, ...] = ("hidden_size",),
    vocab: tuple[str, ...] = ("vocab_size",),
    context: int | None = None,
    decodes: bool | None = None,
    **more: Any,
) -> Tree:
    """The description of an encoder, or of a decoder of the same layers.

    ``blocks`` is one block, or blocks by name with the name of each of the ``layers``.  ``head``
    are the fields of the masked-LM head beside its bias, ``untied`` tensors that an untied one has
    in addition; ``pretraining`` what the class ForPreTraining has in addition.
    """
    wanted = c.raw("architectures")
    first = str(wanted[0]) if isinstance(wanted, list) and wanted else ""
    beyond = first.endswith("ForPreTraining")
    if beyond and pretraining is None:
        c.unsupported(f"the class {first!r}")
    stack = _stack(blocks, n_layers(c) if layers is None else layers)
    stack |= given(positions=positions, token_types=token_types or None)
    stack |= given(embedding_norm=embedding_norm, final_norm=final_norm)
    named = {"encoder": blocks} if "norm" in blocks else blocks
    extra = dict(tensors or {})
    if pooled == "always" or (pooled == "body" and (c.task == "body" or beyond)):
        extra |= POOLER
    described: Tree = {
        "d_model": c.size(*width),
        "vocab": c.size(*vocab),
        **given(context=context or c.maybe("max_position_embeddings")),
        "blocks": {name: block for name, block in named.items() if name in _used(stack)},
        "layers" if (_decodes(c) if decodes is None else decodes) else "encoder": stack,
        **more,
    }
    if c.task != "body":
        tied = c.flag("tie_word_embeddings", default=True)
        described["head"] = {"tied": tied, "bias": True, "transform": "layer"} | (head or {})
        extra |= {} if described["head"]["tied"] else (untied or {})
        extra |= (pretraining or {}) if beyond else {}
    return described | given(tensors=extra or None)


SECOND_BIAS: Tree = {"second_bias": {"use": "bias", "dims": ["vocab"]}}
"""The bias that the output has beside the head's, where the two are not tied."""


def _stack(blocks: Mapping[str, Tree] | Tree, layers: list[str] | int) -> Tree:
    if isinstance(layers, int):
        names = ["encoder"] if "norm" in blocks else list(blocks)
        return {"count": layers, "pattern": names}
    return pattern(layers)


def _used(stack: Tree) -> set[str]:
    return {*stack.get("first", []), *stack["pattern"]}


def _decodes(c: Config) -> bool:
    """Whether the class generates: it has a causal head, or no head and is_decoder."""
    flag = c.flag("is_decoder", default=False)
    return c.task == "causal" or (c.task == "body" and flag)
