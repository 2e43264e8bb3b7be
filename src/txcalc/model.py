"""A model: named kinds of blocks, stacks of them, embeddings and a head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Literal

import msgspec

from txcalc.inventory import Op, State, Weight, linear
from txcalc.parts.attention import Attention
from txcalc.parts.base import Part, Place, dim
from txcalc.parts.ffn import Ffn
from txcalc.parts.norm import Norm, norm_weights
from txcalc.parts.positions import Positions
from txcalc.parts.tensor import Tensor
from txcalc.quantity import ZERO, Letter, Quantity, const, defined, tally, total

Placement = Literal["pre", "post", "sandwich", "parallel", "parallel_two_norms"]
Role = Literal["attention", "cross_attention", "ffn"]
ROLES: tuple[Role, ...] = ("attention", "cross_attention", "ffn")
COMPONENTS = (*ROLES, "norms", "tensors", "matmul", "biases", "projections", "scores")
"""Names below a block's address, which no block may have."""


class Block(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """One kind of layer: its sub-layers by role, and where its norms stand.

    ``pre`` and ``post`` norms stand before or after each sub-layer, ``sandwich`` has both;
    ``parallel`` sub-layers share one norm before them or, with ``parallel_two_norms``, have one
    each.  A ``partial`` block has a mechanism that no part knows: only its tensors are counted.
    """

    norm: Norm
    placement: Placement = "pre"
    attention: Attention | None = None
    cross_attention: Attention | None = None
    ffn: Ffn | None = None
    tensors: dict[str, Tensor] = {}
    partial: bool = False

    def parts(self, d_model: Quantity) -> Iterator[tuple[Role, Part, Place]]:
        """The sub-layers there are, in the order in which they run."""
        for role in ROLES:
            part: Part | None = getattr(self, role)
            if part is not None:
                yield role, part, Place(d_model, "source" if role == "cross_attention" else "own")

    def weights(self, d_model: Quantity) -> dict[str, Weight]:
        """The tensors of one layer, each by component and name: ``attention.q``."""
        rows = {
            f"{role}.{row.name}": row
            for role, part, place in self.parts(d_model)
            for row in part.weights(place)
        }
        for place in self.norm_places():
            rows |= {f"norms.{r.name}": r for r in norm_weights(self.norm, place, d_model)}
        return rows | {f"tensors.{n}": tensor.weight(n) for n, tensor in self.tensors.items()}

    def operations(self, d_model: Quantity) -> dict[str, Op]:
        """The products without a weight of one layer: ``attention.scores``."""
        return {
            f"{role}.{op.name}": op
            for role, part, place in self.parts(d_model)
            for op in part.operations(place)
        }

    def state(self, d_model: Quantity) -> dict[str, State]:
        """What one layer keeps of a sequence: ``attention.keys``."""
        return {
            f"{role}.{state.name}": state
            for role, part, place in self.parts(d_model)
            for state in part.state(place)
        }

    def norm_places(self) -> list[str]:
        """Where norms stand, as ``before_attention``."""
        roles = [role for role in ROLES if getattr(self, role) is not None]
        before, after = [f"before_{r}" for r in roles], [f"after_{r}" for r in roles]
        match self.placement:
            case "pre" | "parallel_two_norms":
                return before
            case "post":
                return after
            case "sandwich":
                return [place for pair in zip(before, after, strict=True) for place in pair]
            case "parallel":
                return ["before"]


class Stack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """``count`` layers: ``first`` blocks, then ``pattern`` again and again, then ``last``.

    What its layers share belongs to it: positions, token types, the norm of the embeddings and
    the norm after the last layer.
    """

    count: Annotated[Letter, dim("layers of the stack")]
    pattern: list[str]
    first: list[str] = []
    last: list[str] = []
    positions: Positions | None = None
    token_types: Annotated[Letter | None, dim("rows of the token type table")] = None
    embedding_norm: Norm = "none"
    final_norm: Norm = "none"

    @cached_property
    def counts(self) -> dict[str, Quantity]:
        """How many layers there are of each kind of block."""
        names = list(dict.fromkeys([*self.first, *self.pattern, *self.last]))
        if len(names) == 1:
            return {names[0]: self.count}
        return {name: defined(f"n_{name}", self._count(name)) for name in names}

    def _count(self, name: str) -> Quantity:
        """Layers of one kind among several."""
        ends = self.first + self.last
        places = tuple(block == name for block in self.pattern)
        middle = self.count - const(len(ends)) if ends else self.count
        repeated = middle if all(places) else tally(middle, places) if any(places) else ZERO
        return total((repeated, const(ends.count(name))), "")

    def layers(self) -> Iterator[str]:
        """The block name of every layer in order."""
        yield from self.first
        middle = int(self.count.value) - len(self.first) - len(self.last)
        for i in range(middle):
            yield self.pattern[i % len(self.pattern)]
        yield from self.last

    def embedding(self, d_model: Quantity) -> dict[str, Weight]:
        """Tables and norm that stand before the first layer."""
        rows = [] if self.positions is None else self.positions.weights(Place(d_model))
        if self.token_types is not None:
            rows = [*rows, _table("token_types", self.token_types, d_model)]
        rows = [*rows, *norm_weights(self.embedding_norm, "norm", d_model)]
        return {row.name: row for row in rows}

    def end(self, d_model: Quantity) -> dict[str, Weight]:
        """The norm after the last layer."""
        return {row.name: row for row in norm_weights(self.final_norm, "norm", d_model)}


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The projection onto the vocabulary, tied to the token embedding or with its own weight.

    ``transform`` is the dense layer and the norm that a masked-language-model head begins with
    (arXiv:1810.04805's published code).
    """

    tied: bool
    bias: bool = False
    transform: Norm | None = None

    def weights(self, d_model: Quantity, vocab: Quantity) -> list[Weight]:
        """The tensors of the head; a tied output is stored with the embedding."""
        narrow, wide = (d_model,), (vocab,)
        output = linear("output", narrow, wide, bias=self.bias, tied=self.tied)
        if self.transform is None:
            return output
        return [
            *linear("transform", narrow, narrow, bias=True),
            *norm_weights(self.transform, "transform_norm", d_model),
            *output,
        ]


class Layers(msgspec.Struct, frozen=True):
    """All layers of one kind, and the stack they stand in."""

    name: str
    block: Block
    count: Quantity
    stack: str
    rows: Mapping[str, Weight]


class Model(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A decoder, an encoder or both, over one vocabulary; ``dims`` are its letters by path."""

    name: str
    source: str
    d_model: Letter
    vocab: Letter
    context: Letter | None
    blocks: Mapping[str, Block]
    stacks: Mapping[str, Stack]
    head: Head | None
    dims: Mapping[str, Letter]

    @property
    def has_decoder(self) -> bool:
        """Whether tokens are generated one after another."""
        return "decoder" in self.stacks

    @property
    def has_encoder(self) -> bool:
        """Whether a text is read in both directions."""
        return "encoder" in self.stacks

    @cached_property
    def layers(self) -> tuple[Layers, ...]:
        """The kinds of layers, the encoder's before the decoder's."""
        return tuple(
            Layers(name, block := self.blocks[name], count, stack, block.weights(self.d_model))
            for stack, layers in self.stacks.items()
            for name, count in layers.counts.items()
        )

    @property
    def decoder_layers(self) -> tuple[Layers, ...]:
        """The kinds of layers that generate, and so keep state."""
        return tuple(kind for kind in self.layers if kind.stack == "decoder")

    @cached_property
    def embedding(self) -> dict[str, Weight]:
        """The token table, one for all stacks, and what each stack adds to it."""
        return {
            "tokens": _table("tokens", self.vocab, self.d_model),
            **self._of_stacks({n: s.embedding(self.d_model) for n, s in self.stacks.items()}),
        }

    @cached_property
    def final_norm(self) -> dict[str, Weight]:
        """The norms after the last layers."""
        return self._of_stacks(
            {name: stack.end(self.d_model) for name, stack in self.stacks.items()}
        )

    @cached_property
    def output(self) -> dict[str, Weight]:
        """The tensors of the head; none where there is no head."""
        rows = [] if self.head is None else self.head.weights(self.d_model, self.vocab)
        return {row.name: row for row in rows}

    def _of_stacks(self, rows: dict[str, dict[str, Weight]]) -> dict[str, Weight]:
        """Rows of all stacks under one name each: ``positions`` or ``positions.encoder``."""
        return {
            f"{name}.{stack}" if len(rows) > 1 else name: row
            for stack, by_name in rows.items()
            for name, row in by_name.items()
        }


def _table(name: str, rows: Letter, d_model: Quantity) -> Weight:
    return Weight(name=name, use="lookup", inputs=(rows,), outputs=(d_model,))
