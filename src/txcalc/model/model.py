"""A model: stacks of named kinds of blocks between an embedding and a head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Literal

import msgspec

from txcalc.exact.condition import Condition
from txcalc.exact.quantity import ONE, Letter, Quantity, least, product
from txcalc.model.parts.tensor import Tensor
from txcalc.model.rows import Declared, Op, Role, Scan, State, Weight, linear
from txcalc.model.structure import SUB_LAYERS, Block, Embedding, Head, Module, Stack, table
from txcalc.model.tower import Side, Tower

Given = Literal["encoder", "decoder", "every", "main", "head", "none"] | str
"""What a row works on in a pass: the tokens of a stack, of every stack, of the decoder (or of an
encoder alone), the positions whose logits are wanted, nothing, or of a tower or a projector what
its component is called: ``tower.vision``."""

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
    ``mtp``; of a tower and a projector each of these stands behind ``tower.NAME`` and
    ``projector.NAME``.  ``layers`` is None outside of blocks, ``times`` how often a module is
    stored.
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
    Beside the text model stand ``towers``, or what describes them is ``left_out``; of a model
    without a text model they are all there is, and ``d_model`` is the first one's.
    """

    name: str
    source: str
    d_model: Letter
    vocab: Letter | None
    context: Letter | None
    blocks: Mapping[str, Block]
    stacks: Mapping[str, Stack]
    head: Head | None
    dims: Mapping[str, Letter]
    embedding: Embedding | None = None
    tensors: Mapping[str, Tensor] = {}
    mtp: Module | None = None
    towers: Mapping[str, Tower] = {}
    scope: Literal["model", "text"] = "model"
    left_out: str | None = None
    stored: str | None = None
    conditions: list[Condition] = []
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
        return (*self.text_rows, *self.tower_rows)

    @cached_property
    def text_rows(self) -> tuple[Row, ...]:
        """Those of the text model, without towers and projectors."""
        return tuple(self._walk()) if self.stacks else ()

    @cached_property
    def tower_rows(self) -> tuple[Row, ...]:
        """Those of towers and projectors beside it, or in its place."""
        return tuple(self._of_towers())

    @cached_property
    def sound_rows(self) -> tuple[Row, ...]:
        """Those of an encoder of sound that a decoder of text attends to, as Whisper's."""
        encoder = self.stacks.get("encoder")
        if encoder is None or encoder.reads == "text":
            return ()
        return tuple(row for row in self.text_rows if not self.has_decoder or _is_encoders(row))

    def width_of(self, stack: str) -> Letter:
        """Channels of the residual stream of one of the stacks."""
        own = self.stacks[stack].d_model if stack in self.stacks else None
        return self.d_model if own is None else own

    def _layers(self, name: str, count: Quantity, stack: Literal["encoder", "decoder"]) -> Layers:
        widths = self.width_of(stack), self.width_of("encoder")
        return _layers(name, self.blocks[name], count, stack, *widths)

    def _walk(self) -> Iterator[Row]:
        yield from _beside("embedding", "every", self._tables())
        for kind in self.layers:
            yield from _of_layers(kind)
        ends = {name: stack.end(self.width_of(name)) for name, stack in self.stacks.items()}
        yield from _beside("final_norm", "main", _of_stacks(ends))
        if self.head is not None and self.vocab is not None:
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
        if self.vocab is not None and all(s.vocab is None for s in self.stacks.values()):
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

    def _of_towers(self) -> Iterator[Row]:
        for name, tower in self.towers.items():
            for conv, each in tower.stem.items():
                at = f"tower.{name}"
                yield from _beside_tower(at, "stem", "tower", each.weights(conv), f"{at}.{conv}")
            yield from _of_side(tower, "tower", f"tower.{name}")
            if tower.pooler is not None:
                at = f"tower.{name}.pooler"
                yield from _of_side(tower.pooler, "tower", at, tower.d_model)
            if tower.projector is not None:
                at = f"projector.{name}"
                for mean in tower.projector.mean(tower.d_model or self.d_model):
                    yield Row(f"{at}.tensors", mean.name, "projector", at, mean)
                yield from _of_side(tower.projector, "projector", at, tower.d_model)


def _layers(
    name: str,
    block: Block,
    count: Quantity,
    stack: Literal["encoder", "decoder"],
    d_model: Letter,
    source: Letter | None,
) -> Layers:
    """The layers of one block, whose cross-attention reads a stream ``source`` wide."""
    run = count if block.loops is None else product(count, block.loops)
    return Layers(
        name=name,
        block=block,
        stack=stack,
        d_model=d_model,
        count=run,
        sets=_one_of(count) if block.shared else count,
        states=count if block.loop_state == "last" else run,
        weights=block.weights(d_model, source),
        operations=block.operations(d_model),
        state=block.state(d_model),
    )


def _one_of(count: Quantity) -> Quantity:
    """One set of weights for all layers of a kind, if there are any; of all layers, one."""
    is_whole = isinstance(count, Letter) and count.definition is None
    return ONE if is_whole else least(ONE, count)


def _of_side(
    side: Side, role: Literal["tower", "projector"], at: str, source: Letter | None = None
) -> Iterator[Row]:
    """The rows of a tower or of a projector, which keep no state."""
    stack = side.layers
    yield from _beside_tower(at, "embedding", role, side.before())
    if stack is not None and side.d_model is not None:
        for block, count in stack.counts.items():
            kind = _layers(block, side.blocks[block], count, "encoder", side.d_model, source)
            rows: tuple[Mapping[str, Declared], ...] = (kind.weights, kind.operations)
            for row, declared in chain.from_iterable(each.items() for each in rows):
                yield Row(f"{at}.block.{block}", row, role, at, declared, kind)
        yield from _beside_tower(at, "final_norm", role, stack.end(side.d_model).values())
    tensors = (tensor.weight(n) for n, tensor in side.tensors.items())
    yield from _beside_tower(at, "tensors", role, tensors)


def _beside_tower(
    at: str, component: str, role: Role, rows: Iterable[Weight], given: Given = ""
) -> Iterator[Row]:
    for row in rows:
        own: Role = "buffers" if row.use == "buffer" else role
        yield Row(f"{at}.{component}", row.name, own, given or at, row)


def _of_layers(kind: Layers) -> Iterator[Row]:
    component = f"block.{kind.name}"
    rows: tuple[Mapping[str, Declared], ...] = (kind.weights, kind.operations, kind.state)
    for name, row in chain.from_iterable(declared.items() for declared in rows):
        yield Row(component, name, _role(row, name.partition(".")[0]), kind.stack, row, kind)


def _is_encoders(row: Row) -> bool:
    """Whether a row belongs to the encoder of a pair, and to nothing else."""
    if row.layers is not None:
        return row.layers.stack == "encoder"
    is_stem = row.component == "tensors" and getattr(row.declared, "stream", "") == "source"
    return is_stem or row.name.endswith(".encoder")


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
