"""A model: stacks of named kinds of blocks between an embedding and a head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Literal

import msgspec

from txcalc.exact.quantity import ONE, Letter, Quantity, product
from txcalc.model.parts.tensor import Tensor
from txcalc.model.rows import Declared, Op, Role, Scan, State, Weight, linear
from txcalc.model.structure import SUB_LAYERS, Block, Embedding, Head, Module, Stack, table

Given = Literal["encoder", "decoder", "every", "main", "head", "none"]
"""What a row works on in a pass: the tokens of a stack, of every stack, of the decoder (or of an
encoder alone), the positions whose logits are wanted, or nothing."""

_SLOTS: tuple[Role, ...] = (*SUB_LAYERS, "norms", "residual", "tensors")
_ROLES: dict[str, Role] = {
    **{slot: slot for slot in _SLOTS},
    "embedding": "embedding", "final_norm": "norms", "head": "head", "mtp": "mtp",
}  # fmt: skip
"""The role of a row by its slot in a block, or by its component outside of blocks."""


class Layers(msgspec.Struct, frozen=True, kw_only=True):
    """All layers of one kind, the stack they stand in, and the rows of one of them.

    A pass runs ``count`` of them; ``sets`` of weights are stored, and ``states`` kept.
    """

    name: str
    block: Block
    stack: Literal["encoder", "decoder"]
    d_model: Letter
    count: Quantity
    sets: Quantity
    states: Quantity
    weights: Mapping[str, Weight]
    operations: Mapping[str, Op | Scan]
    state: Mapping[str, State]


class Row(msgspec.Struct, frozen=True):
    """One row of the inventory: where it stands, what it serves, and how many layers have it.

    ``component`` is ``embedding``, ``block.NAME``, ``final_norm``, ``head``, ``tensors`` or
    ``mtp``; ``layers`` is None outside of blocks, ``times`` how often a module is stored.
    """

    component: str
    name: str
    role: Role
    given: Given
    declared: Declared
    layers: Layers | None = None
    times: Quantity = ONE

    @property
    def address(self) -> str:
        """Where it stands below an account: ``block.dense.attention.q``."""
        return f"{self.component}.{self.name}"

    @property
    def weight(self) -> Weight:
        """The weight that it declares, where it is known to be one."""
        assert isinstance(self.declared, Weight)
        return self.declared


class Model(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A decoder, an encoder or both, over one vocabulary; ``dims`` are its letters by path.

    A checkpoint is ``stored`` in formats other than one flat number, as ``--weights`` takes them.
    """

    name: str
    source: str
    d_model: Letter
    vocab: Letter
    context: Letter | None
    blocks: Mapping[str, Block]
    stacks: Mapping[str, Stack]
    head: Head | None
    dims: Mapping[str, Letter]
    embedding: Embedding | None = None
    tensors: Mapping[str, Tensor] = {}
    mtp: Module | None = None
    scope: Literal["model", "text"] = "model"
    stored: str | None = None
    notes: list[str] = []
    warnings: list[str] = []

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
            self._layers(name, count, "encoder" if stack == "encoder" else "decoder")
            for stack, layers in self.stacks.items()
            for name, count in layers.counts.items()
        )

    @cached_property
    def kinds(self) -> dict[str, Layers]:
        """The kinds of layers by their component: ``block.NAME``."""
        return {f"block.{kind.name}": kind for kind in self.layers}

    @property
    def decoder_layers(self) -> tuple[Layers, ...]:
        """The kinds of layers that generate, and so keep state."""
        return tuple(kind for kind in self.layers if kind.stack == "decoder")

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every weight, product without a weight and state: the one walk over a model."""
        return tuple(self._walk())

    def width_of(self, stack: str) -> Letter:
        """Channels of the residual stream of one of the stacks."""
        own = self.stacks[stack].d_model if stack in self.stacks else None
        return self.d_model if own is None else own

    def _layers(self, name: str, count: Quantity, stack: Literal["encoder", "decoder"]) -> Layers:
        block, d_model = self.blocks[name], self.width_of(stack)
        run = count if block.loops is None else product(count, block.loops)
        return Layers(
            name=name,
            block=block,
            stack=stack,
            d_model=d_model,
            count=run,
            sets=ONE if block.shared and count.value else count,
            states=count if block.loop_state == "last" else run,
            weights=block.weights(d_model, self.width_of("encoder")),
            operations=block.operations(d_model),
            state=block.state(d_model),
        )

    def _walk(self) -> Iterator[Row]:
        yield from _beside("embedding", "every", self._tables())
        for kind in self.layers:
            yield from _of_layers(kind)
        ends = {name: stack.end(self.width_of(name)) for name, stack in self.stacks.items()}
        yield from _beside("final_norm", "main", _of_stacks(ends))
        if self.head is not None:
            rows = self.head.weights(self.d_model, self._width, self.vocab)
            yield from _beside("head", "head", {row.name: row for row in rows})
        free = {name: tensor.weight(name) for name, tensor in self.tensors.items()}
        yield from _beside("tensors", "main", free)
        yield from self._modules()

    @property
    def _width(self) -> Quantity:
        """Channels of the token table."""
        return self.d_model if self.embedding is None else self.embedding.d_embed

    def _tables(self) -> dict[str, Weight]:
        """The token table, one for all stacks or each its own, and what stands beside it."""
        narrow = self.embedding is not None and self.embedding.all
        rows = _of_stacks(
            {
                name: stack.embedding(self._width if narrow else self.width_of(name))
                for name, stack in self.stacks.items()
            }
        )
        if all(stack.vocab is None for stack in self.stacks.values()):
            rows = {"tokens": table("tokens", self.vocab, self._width), **rows}
        if self.embedding is None:
            return rows
        project = linear("project", (self._width,), (self.d_model,), bias=self.embedding.bias)
        return rows | {row.name: row for row in project}

    def _modules(self) -> Iterator[Row]:
        """The multi-token-prediction modules: a block of the model each, and tensors.

        No pass runs them, so that they have no products.
        """
        if self.mtp is None:
            return
        block = self.blocks[self.mtp.block]
        own = {name: tensor.weight(name) for name, tensor in self.mtp.tensors.items()}
        for rows in (block.weights(self.d_model), block.state(self.d_model)):
            of_block = {f"block.{name}": row for name, row in rows.items()}
            yield from _beside("mtp", "none", of_block, self.mtp.n_modules)
        yield from _beside("mtp", "none", own, self.mtp.n_modules)


def _of_layers(kind: Layers) -> Iterator[Row]:
    component = f"block.{kind.name}"
    rows: tuple[Mapping[str, Declared], ...] = (kind.weights, kind.operations, kind.state)
    for name, row in chain.from_iterable(declared.items() for declared in rows):
        yield Row(component, name, _role(row, name.partition(".")[0]), kind.stack, row, kind)


def _beside(
    component: str, given: Given, rows: Mapping[str, Declared], times: Quantity = ONE
) -> Iterator[Row]:
    for name, row in rows.items():
        yield Row(component, name, _role(row, component), given, row, None, times)


def _role(row: Declared, slot: str) -> Role:
    """A row's own role, or that of the slot in which it stands."""
    if not isinstance(row, Weight) or slot == "mtp":
        return _ROLES[slot]
    return "buffers" if row.use == "buffer" else row.role or _ROLES[slot]


def _of_stacks(rows: dict[str, dict[str, Weight]]) -> dict[str, Weight]:
    """Rows of all stacks under one name each: ``positions`` or ``positions.encoder``."""
    return {
        f"{name}.{stack}" if len(rows) > 1 else name: row
        for stack, by_name in rows.items()
        for name, row in by_name.items()
    }
