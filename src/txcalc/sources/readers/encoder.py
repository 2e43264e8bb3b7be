"""What encoders of BERT's line share: the stack, its heads, and what each class adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers, pattern
from txcalc.sources.readers.parts import idle_cross_attention, mha, plain
from txcalc.sources.readers.trees import dense, given, tensor

POOLER: Tree = {
    "pooler": tensor("matmul", "d_model", "d_model", stream="sequence"),
    "pooler_bias": tensor("bias", "d_model"),
}
"""A dense layer over the first token of each sequence."""

SECOND_BIAS: Tree = {"second_bias": tensor("bias", "vocab")}
"""The bias that the output has beside the head's, where the two are not tied."""

REPLACED: Tree = dense("replaced", "d_model", "d_model") | dense("replaced_score", 1, "d_model")
"""The detector of replaced tokens, arXiv:2003.10555."""

Pooled = Literal["body", "always", "never"]
"""Which classes have the pooler: the one without a head, all, or none."""


def labels(n: int, name: str = "next_sentence") -> Tree:
    """A classifier of each sequence, behind the pooler."""
    return {
        name: tensor("matmul", n, "d_model", stream="sequence"),
        f"{name}_bias": tensor("bias", n),
    }


def token_types(c: Config, default: int = 2) -> int:
    """The rows of the table of token types, of which there may be none."""
    return c.count("type_vocab_size", default=default)


def projected(narrow: int) -> Tree:
    """Tables that are ``narrow`` channels wide, and a projection after their sum."""
    return {"embedding": {"d_embed": narrow, "bias": True, "all": True}}


def replaced_or_head(tree: Tree) -> Tree:
    """The same without a head where the class ForPreTraining detects replaced tokens."""
    replaces = "replaced" in tree.get("tensors", {})
    return {name: field for name, field in tree.items() if not (replaces and name == "head")}


def layer(
    c: Config,
    *,
    placement: str = "post",
    bias: bool | list[str] = True,
    decodes: bool = True,
    absolute: bool = True,
    **fields: Any,
) -> Tree:
    """A layer of BERT; a type that ``decodes`` may have an idle cross-attention by flag.

    ``absolute`` types know no other position_embedding_type.
    """
    positions = c.word("position_embedding_type", default="absolute") if absolute else "absolute"
    if positions != "absolute":
        c.unsupported(f"position_embedding_type {positions!r} of type {c.type!r}")
    idle = idle_cross_attention(c, bias=bias is True) if decodes else {}
    if idle and not c.flag("is_decoder", default=False):
        c.refuse("add_cross_attention", "only a decoder, by is_decoder, has it")
    attend = mha(c.size("num_attention_heads"), bias=bias)
    block = {"norm": "layer", "placement": placement, "attention": attend}
    block |= {"ffn": plain(c, bias=True), **fields}
    tensors = {**idle.get("tensors", {}), **fields.get("tensors", {})}
    return block | given(tensors=tensors or None)


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
    beyond = c.class_.endswith("ForPreTraining")
    if beyond and pretraining is None:
        c.unsupported(f"the class {c.class_!r}")
    pools = pooled == "always" or (pooled == "body" and (beyond or (c.task == "body" and c.pooler)))
    return (POOLER if pools else {}) | ((pretraining or {}) if beyond else {})


def _decodes(c: Config) -> bool:
    """Whether the class generates: it has a causal head, or no head and is_decoder."""
    flag = c.flag("is_decoder", default=False)
    return c.task == "causal" or (c.task == "body" and flag)
