"""What a checkpoint has to hold for a model: each row, in each place where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import msgspec

from txcalc.accounts.matching.words import Concepts, concepts
from txcalc.accounts.tensors import sides
from txcalc.model.model import Layers, Model, Row
from txcalc.model.rows import Weight
from txcalc.model.structure import Stack
from txcalc.model.tower import Side
from txcalc.report import address as grammar


class Need(msgspec.Struct, frozen=True, dict=True):
    """One row of a layer, or outside of layers: ``rows`` x ``columns`` elements, ``copies`` times.

    A vector is one column of its elements; ``dims`` are all its dimensions.
    """

    row: Row
    rows: int
    columns: int
    copies: int
    dims: tuple[int, ...]

    @property
    def weight(self) -> Weight:
        """The weight of the row."""
        return self.row.weight

    @property
    def address(self) -> str:
        """Where it stands, as in ``params.block.attention.q``."""
        return f"params.{self.row.address}"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that a file holds a copy in."""
        return (self.rows, self.columns) if self.is_matrix else self.dims

    @property
    def is_matrix(self) -> bool:
        """Whether it has rows and columns."""
        return self.weight.use in ("matmul", "lookup")

    @property
    def is_in_layers(self) -> bool:
        """Whether it stands in layers, or in a module for further tokens, which is like one."""
        return self.row.layers is not None or self.row.component == "mtp"

    @property
    def is_named_freely(self) -> bool:
        """Whether it is one of the tensors that no part describes, outside of layers."""
        return self.row.component.rpartition(".")[2] == "tensors"

    @property
    def is_among_others(self) -> bool:
        """Whether what is beside it shows what it is: in layers, and in towers."""
        return self.row.layers is not None or is_beside_text(self.row)

    @property
    def elements(self) -> int:
        """Elements of all copies."""
        return self.rows * self.columns * self.copies

    @property
    def part(self) -> str:
        """The part of the block that it belongs to, within which rows may be fused."""
        return self.row.name.rpartition(".")[0]

    @cached_property
    def concepts(self) -> Concepts:
        """What its name speaks of."""
        is_end = self.row.component in ("head", "final_norm")
        spoken = concepts(self.row.address if is_end else self.row.name)
        if self.weight.use == "bias":
            spoken |= {"bias"}
        if self.weight.use == "norm":
            spoken |= {"norm"}
        if self.row.role in ("router", "experts", "shared"):
            spoken |= {self.row.role}
        if "down" in spoken and "ffn" in spoken:
            spoken |= {"out"}
        return spoken


class Place(msgspec.Struct, frozen=True):
    """Layers of one kind, by their numbers in the stack, and what each of them needs."""

    layers: Sequence[int]
    needs: Sequence[Need]

    @property
    def elements(self) -> int:
        """Elements of one layer."""
        return sum(need.elements for need in self.needs)


def places(model: Model) -> dict[str, list[Place]]:
    """The kinds of layers of each stack; layers that share weights are stored once."""
    by_kind: dict[int, list[Need]] = {}
    kinds: dict[str, dict[int, Layers]] = {name: {} for name in stacks(model)}
    for row in model.rows:
        if row.layers is not None and isinstance(row.declared, Weight):
            by_kind.setdefault(id(row.layers), []).append(_need(row))
            kinds[_stack_of(row, row.layers)][id(row.layers)] = row.layers
    order = {name: list(stack.layers()) for name, stack in stacks(model).items()}
    return {
        name: [Place(_numbers(order[name], kind), by_kind[key]) for key, kind in of_stack.items()]
        for name, of_stack in kinds.items()
    }


def stacks(model: Model) -> dict[str, Stack]:
    """The stacks of the text model, and those of towers and projectors by their components."""
    sides: dict[str, Side | None] = {}
    for name, tower in model.towers.items():
        sides[f"tower.{name}"] = tower
        sides[f"tower.{name}.pooler"] = tower.pooler
        sides[f"projector.{name}"] = tower.projector
    beside = {at: side.layers for at, side in sides.items() if side and side.layers is not None}
    return {**model.stacks, **beside}


def _stack_of(row: Row, kind: Layers) -> str:
    """The stack of a row of layers."""
    return row.component.partition(".block.")[0] if is_beside_text(row) else kind.stack


def is_beside_text(row: Row) -> bool:
    """Whether a row is a tower's or a projector's."""
    return row.component.startswith(("tower.", "projector."))


def _numbers(order: Sequence[str], kind: Layers) -> Sequence[int]:
    """The numbers of the layers of a kind, of those that share weights as many as are stored."""
    return [i for i, name in enumerate(order) if name == kind.name][: int(kind.sets.value)]


def beside(model: Model) -> list[Need]:
    """What stands outside of layers; a tied head is stored with the table."""
    return [
        _need(row)
        for row in model.rows
        if row.layers is None and row.component != "mtp" and isinstance(row.declared, Weight)
    ]


def modules(model: Model) -> list[Need]:
    """What all multi-token-prediction modules hold, each row as often as there are modules."""
    needs = (
        _need(row)
        for row in model.rows
        if row.component == "mtp" and isinstance(row.declared, Weight)
    )
    return [
        msgspec.structs.replace(need, copies=need.copies * int(need.row.times.value))
        for need in needs
    ]


def addresses(needs: Iterable[Need]) -> str:
    """Rows that one tensor holds: ``params.block.attention.q + k + v``."""
    first, *others = needs
    return " + ".join([first.address, *(_leaf(need.address) for need in others)])


def _leaf(address: str) -> str:
    return grammar.below(address, grammar.parent(address))


def _need(row: Row) -> Need:
    weight = row.weight
    rows, columns = (int(side.value) for side in sides(weight))
    if weight.use not in ("matmul", "lookup"):
        rows, columns = columns, rows
    dims = tuple(int(d.value) for d in (*weight.outputs, *weight.inputs))
    return Need(row, rows, columns, int(weight.copies.value), dims)
