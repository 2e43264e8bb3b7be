"""What encoders of BERT's line share: the stack, its heads, and what each class adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from txcalc.sources.readers.common import given, idle_cross_attention, plain
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers, pattern

POOLER: Tree = {
    "pooler": {"use": "matmul", "dims": ["d_model", "d_model"], "stream": "sequence"},
    "pooler_bias": {"use": "bias", "dims": ["d_model"]},
}
"""A dense layer over the first token of each sequence."""

SECOND_BIAS: Tree = {"second_bias": {"use": "bias", "dims": ["vocab"]}}
"""The bias that the output has beside the head's, where the two are not tied."""

_UNUSED = (
    "directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
    "pooler_size_per_head", "pooler_type",
)  # fmt: skip
"""Keys of the first BERT files that no class reads."""

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
    head: Tree | None = None,
    untied: Tree | None = None,
    pooled: Pooled = "body",
    pretraining: Tree | None = None,
    tensors: Tree | None = None,
    width: tuple[str, ...] = ("hidden_size",),
    vocab: tuple[str, ...] = ("vocab_size",),
    context: int | None = None,
    decodes: bool | None = None,
    embedding: Tree | None = None,
    **shared: Any,
) -> Tree:
    """The description of an encoder, or of a decoder of the same layers.

    ``blocks`` is one block, or blocks by name with the name of each of the ``layers``; ``shared``
    is what the stack's layers share.  ``head`` are the fields of the masked-LM head beside its
    bias, ``untied`` tensors that an untied one has in addition, ``pretraining`` those of the class
    ForPreTraining.
    """
    c.ignore(*_UNUSED)
    named = {"encoder": blocks} if "norm" in blocks else blocks
    stack = _stack(list(named), n_layers(c) if layers is None else layers, **shared)
    used = {*stack.get("first", []), *stack["pattern"]}
    output = _head(c, head or {})
    extra = (tensors or {}) | _more_of_the_class(c, pooled, pretraining)
    if output and not output["tied"]:
        extra |= untied or {}
    return {
        "d_model": c.size(*width),
        "vocab": c.size(*vocab),
        **given(context=context or c.maybe("max_position_embeddings"), embedding=embedding),
        "blocks": {name: block for name, block in named.items() if name in used},
        "layers" if (_decodes(c) if decodes is None else decodes) else "encoder": stack,
        **given(head=output or None, tensors=extra or None),
    }


def _stack(
    names: list[str],
    layers: list[str] | int,
    *,
    embedding_norm: str = "layer",
    final_norm: str = "none",
    positions: Tree | None = None,
    token_types: int = 0,
) -> Tree:
    shape = pattern(layers) if isinstance(layers, list) else {"count": layers, "pattern": names}
    shape |= given(embedding_norm=embedding_norm, final_norm=final_norm)
    return shape | given(positions=positions, token_types=token_types or None)


def _head(c: Config, fields: Tree) -> Tree:
    """The head, by default tied and BERT's; none of a class without."""
    if c.task == "body":
        return {}
    tied = c.flag("tie_word_embeddings", default=True)
    return {"tied": tied, "bias": True, "transform": "layer"} | fields


def _more_of_the_class(c: Config, pooled: Pooled, pretraining: Tree | None) -> Tree:
    """The pooler, and what only the class ForPreTraining has."""
    classes = c.raw("architectures")
    name = str(classes[0]) if isinstance(classes, list) and classes else ""
    beyond = name.endswith("ForPreTraining")
    if beyond and pretraining is None:
        c.unsupported(f"the class {name!r}")
    found = (pretraining or {}) if beyond else {}
    if pooled == "always" or (pooled == "body" and (beyond or c.task == "body")):
        return POOLER | found
    return found


def _decodes(c: Config) -> bool:
    """Whether the class generates: it has a causal head, or no head and is_decoder."""
    flag = c.flag("is_decoder", default=False)
    return c.task == "causal" or (c.task == "body" and flag)
