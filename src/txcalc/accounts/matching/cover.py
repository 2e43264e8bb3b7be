"""Which tensors of a layer hold which of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import msgspec

from txcalc.accounts.matching.forms import Shape, Way, as_matrix, as_vector, stacked
from txcalc.accounts.matching.needs import Need
from txcalc.accounts.matching.words import Concepts, likeness

MOST_FUSED = 6
"""Rows that one tensor may hold."""
MOST_PIECES = 4
"""Tensors that may hold one row together."""
MOST_ALIKE = 12
"""Rows of one part among which those are sought."""
_KINDS = frozenset(("norm", "bias"))
"""Words that say what a tensor is."""
_DECIDING = frozenset(("cross", "scale", "indexer", "head"))
"""Further ones, if any row has them: without a shape, a name and its row have them in common."""
_LEAST = 0.3
"""A likeness that words alone have to have."""


class Item(msgspec.Struct, frozen=True):
    """Tensors that differ in an inner number alone, as experts do: ``tails`` are their names.

    ``shape`` is that of all of them, or None where names alone are known.  One that is called
    strangely holds no row that it has a word in common with, and none that every model has.
    """

    pattern: str
    shape: Shape | None
    tails: tuple[str, ...]
    concepts: Concepts
    is_strange: bool = False


class Cover(msgspec.Struct, frozen=True):
    """Rows that tensors of an item hold: fused where there are several, stacked with all copies."""

    needs: tuple[Need, ...]
    way: Way = "as it is"
    is_stacked: bool = False

    @property
    def can_turn(self) -> bool:
        """Whether the rows make a matrix that has another shape when it is transposed."""
        first = self.needs[0]
        return first.is_matrix and 1 != first.columns != sum(need.rows for need in self.needs) != 1

    @property
    def is_turned(self) -> bool:
        """Whether a matrix is transposed that is not stacked."""
        is_free = self.needs[0].part == "tensors"
        return self.way == "transposed" and not self.is_stacked and not is_free and self.can_turn

    def shape(self, found: Shape | None) -> Shape:
        """The shape that a tensor has to have, its sides as in the one that is ``found``."""
        first = self.needs[0]
        if found is not None:
            return found
        if len(self.needs) == 1 and not self.is_stacked:
            return first.shape
        rows = sum(need.rows for need in self.needs)
        sides = (rows, first.columns) if first.is_matrix else (rows,)
        return (first.copies, *sides) if self.is_stacked else sides


class Covered(msgspec.Struct):
    """What each tensor holds, and what is left on either side."""

    covers: dict[str, Cover]
    items: list[Item]
    needs: list[Need]


def cover(items: Sequence[Item], needs: Sequence[Need], least: float = 0) -> Covered:
    """Gives each row the tensors that are most like it in shape and in words, ``least`` so much."""
    return _Covering(items, needs, least).covered()


class _Choice(msgspec.Struct, frozen=True):
    item: int
    cover: Cover
    rank: tuple[float, ...]


class _Covering:
    """The choice of covers, the likeliest first."""

    def __init__(self, items: Sequence[Item], needs: Sequence[Need], least: float) -> None:
        self._items, self._needs, self._least = items, needs, least
        self._deciding = _DECIDING & _spoken(needs) | _KINDS
        self._left = {id(need): need.copies for need in needs}
        self._tails = [list(item.tails) for item in items]
        self._covers: dict[str, Cover] = {}

    def covered(self) -> Covered:
        """Takes choices as long as there are tensors and rows for them."""
        for choice in sorted(self._choices(), key=lambda choice: choice.rank, reverse=True):
            self._take(choice)
        self._split()
        self._by_elimination()
        left = [
            msgspec.structs.replace(item, tails=tuple(tails))
            for item, tails in zip(self._items, self._tails, strict=True)
            if tails
        ]
        return Covered(self._covers, left, [n for n in self._needs if self._left[id(n)]])

    def _take(self, choice: _Choice) -> None:
        needs, tails = choice.cover.needs, self._tails[choice.item]
        left = {self._left[id(need)] for need in needs}
        if len(left) > 1:
            return
        copies = left.pop()
        if choice.cover.is_stacked and copies != needs[0].copies:
            return
        taken = min(len(tails), 1 if choice.cover.is_stacked else copies)
        for tail in tails[:taken]:
            self._covers[tail] = choice.cover
        for need in needs if taken and copies else ():
            self._left[id(need)] -= copies if choice.cover.is_stacked else taken
        if copies:
            del tails[:taken]

    def _choices(self) -> Iterator[_Choice]:
        alone: list[tuple[Need, ...]] = [(need,) for need in self._needs]
        fused = list(_fusions(self._needs))
        for i, item in enumerate(self._items):
            for needs in alone + fused:
                yield from self._choice(i, item, needs)

    def _choice(self, i: int, item: Item, needs: tuple[Need, ...]) -> Iterator[_Choice]:
        for is_stacked in (False, True) if needs[0].copies > 1 else (False,):
            if item.shape is None:
                way = self._by_words(item, needs)
            else:
                way = _way(item.shape, needs, is_stacked=is_stacked)
            like = 0.0 if way is None else likeness(item.concepts, _spoken(needs))
            is_free = needs[0].is_named_freely and (not like or needs[0].is_among_others)
            if way is not None and like >= self._least and (is_free or not item.is_strange):
                found = len(item.tails)
                complete = (found == 1) == is_stacked or found == needs[0].copies
                rank = (like, complete, -len(needs), way == "as it is", -is_stacked)
                yield _Choice(i, Cover(needs, way, is_stacked), rank)

    def _by_words(self, item: Item, needs: tuple[Need, ...]) -> Way | None:
        """Whether words alone let a tensor hold rows: nothing decides against them."""
        spoken = _spoken(needs)
        if self._deciding & item.concepts != self._deciding & spoken:
            return None
        leaves = frozenset(("attention", "ffn")) | item.concepts
        if len(needs) > 1 and not all(need.concepts <= leaves for need in needs):
            return None
        return "as it is" if likeness(spoken, item.concepts) >= _LEAST else None

    def _split(self) -> None:
        """Rows that several tensors hold together, side by side."""
        for need in self._needs:
            if self._left[id(need)] != 1 or need.copies != 1:
                continue
            for chosen in self._pieces(need):
                for i in chosen:
                    self._covers[self._tails[i].pop()] = Cover((need,))
                self._left[id(need)] = 0
                break

    def _by_elimination(self) -> None:
        """Of names alone, what is left of either side where no word decides against it."""
        for deciding in {item.concepts & _KINDS for item in self._items}:
            left = [
                i
                for i, item in enumerate(self._items)
                if item.shape is None and not item.is_strange
                if item.concepts & _KINDS == deciding
                for _ in self._tails[i]
            ]
            needs = [
                need
                for need in self._needs
                if self._left[id(need)] and need.is_among_others
                if need.concepts & _KINDS == deciding
            ]
            if len(left) == 1 < len(needs) and len({need.part for need in needs}) == 1:
                self._take(_Choice(left[0], Cover(tuple(needs)), ()))
            elif len(left) == len(needs):
                for i, need in zip(left, needs, strict=True):
                    is_stacked = need.copies > 1 and len(self._tails[i]) == 1
                    self._take(_Choice(i, Cover((need,), is_stacked=is_stacked), ()))

    def _pieces(self, need: Need) -> Iterator[tuple[int, ...]]:
        """Tensors that make up a row along its first side."""
        wide: list[tuple[int, int]] = []
        for i, item in enumerate(self._items):
            rows = _rows_beside(item.shape, need.columns) if item.shape is not None else 0
            if 0 < rows < need.rows:
                wide += [(i, rows)] * min(len(self._tails[i]), MOST_PIECES)
        for n in range(2, MOST_PIECES + 1):
            for chosen in combinations(wide[:MOST_ALIKE], n):
                if sum(rows for _, rows in chosen) == need.rows:
                    yield tuple(i for i, _ in chosen)


def _rows_beside(shape: Shape, columns: int) -> int:
    """Rows of a matrix with so many columns; 0 where it has others."""
    elements = 1
    for size in shape:
        elements *= size
    rows, rest = divmod(elements, columns)
    return 0 if rest or as_matrix(shape, rows, columns) != "as it is" else rows


def _fusions(needs: Sequence[Need]) -> Iterator[tuple[Need, ...]]:
    """Rows of one part that read the same channels, in twos and more."""
    groups: dict[tuple[object, ...], list[Need]] = {}
    for need in needs:
        if need.weight.use in ("matmul", "bias") and need.is_in_layers:
            key = (need.part, need.weight.use, need.columns, need.copies, need.row.component)
            groups.setdefault(key, []).append(need)
    for group in groups.values():
        for n in range(2, min(len(group), MOST_FUSED) + 1):
            yield from combinations(group[:MOST_ALIKE], n)


def _way(shape: Shape, needs: tuple[Need, ...], *, is_stacked: bool) -> Way | None:
    first, rows = needs[0], sum(need.rows for need in needs)
    if is_stacked:
        return stacked(shape, first.copies, rows, first.columns)
    if first.is_matrix:
        return as_matrix(shape, rows, first.columns)
    return as_vector(shape, first.dims if len(needs) == 1 else (rows,))


def _spoken(needs: Sequence[Need]) -> Concepts:
    return frozenset[str]().union(*(need.concepts for need in needs))


def items_of(tails: Iterable[tuple[str, str, Shape | None, Concepts]]) -> list[Item]:
    """Tensors by the pattern of their names and their shape."""
    groups: dict[tuple[str, Shape | None], list[str]] = {}
    spoken: dict[str, Concepts] = {}
    for tail, pattern, shape, words in tails:
        groups.setdefault((pattern, shape), []).append(tail)
        spoken[pattern] = words
    return [Item(p, shape, tuple(names), spoken[p]) for (p, shape), names in groups.items()]
