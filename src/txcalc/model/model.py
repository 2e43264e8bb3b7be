"""A model: stacks of named kinds of blocks between an embedding and a head."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import msgspec

from txcalc.exact.quantity import ONE, Letter, Quantity, product
from txcalc.model.parts.tensor import Tensor
from txcalc.model.rows import Weight, linear
from txcalc.model.structure import Block, Embedding, Head, Module, Stack, table


class Layers(msgspec.Struct, frozen=True):
    """All layers of one kind, and the stack they stand in.

    A pass runs ``count`` of them; ``sets`` of weights are stored, and ``states`` kept.
    """

    name: str
    block: Block
    count: Quantity
    stack: str
    rows: Mapping[str, Weight]
    d_model: Letter
    sets: Quantity
    states: Quantity


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
    embed: Embedding | None = None
    extra: Mapping[str, Tensor] = {}
    mtp: Module | None = None
    scope: Literal["model", "text"] = "model"
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
            self._layers(name, count, stack)
            for stack, layers in self.stacks.items()
            for name, count in layers.counts.items()
        )

    def _layers(self, name: str, count: Quantity, stack: str) -> Layers:
        block = self.blocks[name]
        run = count if block.loops is None else product(count, block.loops)
        return Layers(
            name,
            block,
            count=run,
            stack=stack,
            rows=block.weights(self.width_of(stack), self.width_of("encoder")),
            d_model=self.width_of(stack),
            sets=ONE if block.shared else count,
            states=count if block.loop_state == "last" else run,
        )

    @property
    def decoder_layers(self) -> tuple[Layers, ...]:
        """The kinds of layers that generate, and so keep state."""
        return tuple(kind for kind in self.layers if kind.stack == "decoder")

    def width_of(self, stack: str) -> Letter:
        """Channels of the residual stream of one of the stacks."""
        own = self.stacks[stack].d_model if stack in self.stacks else None
        return self.d_model if own is None else own

    @property
    def width(self) -> Quantity:
        """Channels of the token table."""
        return self.d_model if self.embed is None else self.embed.d_embed

    @cached_property
    def embedding(self) -> dict[str, Weight]:
        """The token table, one for all stacks or each its own, and what stands beside it."""
        narrow = self.embed is not None and self.embed.all
        by_stack = {
            name: stack.embedding(self.width if narrow else self.width_of(name))
            for name, stack in self.stacks.items()
        }
        rows = self._of_stacks(by_stack)
        if all(stack.vocab is None for stack in self.stacks.values()):
            rows = {"tokens": table("tokens", self.vocab, self.width), **rows}
        if self.embed is None:
            return rows
        project = linear("project", (self.width,), (self.d_model,), bias=self.embed.bias)
        return rows | {row.name: row for row in project}

    @cached_property
    def final_norm(self) -> dict[str, Weight]:
        """The norms after the last layers."""
        return self._of_stacks(
            {name: stack.end(self.width_of(name)) for name, stack in self.stacks.items()}
        )

    @cached_property
    def output(self) -> dict[str, Weight]:
        """The tensors of the head; none where there is no head."""
        if self.head is None:
            return {}
        rows = self.head.weights(self.d_model, self.width, self.vocab)
        return {row.name: row for row in rows}

    @cached_property
    def tensors(self) -> dict[str, Weight]:
        """The tensors outside of blocks that no part knows."""
        return {name: tensor.weight(name) for name, tensor in self.extra.items()}

    def _of_stacks(self, rows: dict[str, dict[str, Weight]]) -> dict[str, Weight]:
        """Rows of all stacks under one name each: ``positions`` or ``positions.encoder``."""
        return {
            f"{name}.{stack}" if len(rows) > 1 else name: row
            for stack, by_name in rows.items()
            for name, row in by_name.items()
        }
