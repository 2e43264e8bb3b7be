"""The layers of one kind: each tensor of each of them against what the kind needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from txcalc.accounts.matching.cover import Cover, Covered, Item, cover, items_of
from txcalc.accounts.matching.differences import Holding, missing, other_shape, other_type
from txcalc.accounts.matching.forms import Shape
from txcalc.accounts.matching.names import Tails, masks_in, pattern
from txcalc.accounts.matching.needs import Place
from txcalc.accounts.matching.words import concepts, is_computed, is_scale, is_strange
from txcalc.report.report import Difference
from txcalc.workload.checkpoint import CODES, StoredTensor

_ALIKE = 0.5
"""The least likeness by which a tensor of another shape is taken for a row's."""
_ENOUGH = 3
"""Layers that show a lineage's own convention where they agree."""


class OfKind(msgspec.Struct):
    """What the layers of a kind hold, in what they differ, and what no row needs."""

    holdings: list[Holding]
    differences: list[Difference]
    others: list[tuple[StoredTensor, int]]


def compared(place: Place, layers: Mapping[int, Tails], prefix: str, *, one_type: bool) -> OfKind:
    """Every tensor of the layers of a kind; ``one_type`` is that of a row in all of them."""
    whole = OfKind([], [], [])
    for part in _alike(place, layers):
        compared = _Kind(part, layers, prefix, one_type=one_type).compared()
        whole.holdings += compared.holdings
        whole.differences += compared.differences
        whole.others += compared.others
    return whole


def _alike(place: Place, layers: Mapping[int, Tails]) -> Iterator[Place]:
    """The layers of a kind in groups of several whose tensors are called alike, the rest in one."""
    named: dict[frozenset[str], list[int]] = {}
    for i in place.layers:
        named.setdefault(frozenset(layers.get(i, ())), []).append(i)
    groups = sorted(named.values(), key=len, reverse=True)
    apart = [group for group in groups[1:] if len(group) > 1 and group[0] in layers]
    taken = {i for group in apart for i in group}
    yield msgspec.structs.replace(place, layers=[i for i in place.layers if i not in taken])
    yield from (msgspec.structs.replace(place, layers=group) for group in apart)


def _is_upright(cover: Cover) -> bool:
    """Whether a matrix is stored as it is, where that can be seen."""
    return cover.way == "as it is" and not cover.is_stacked and cover.can_turn


class _Kind:
    def __init__(
        self, place: Place, layers: Mapping[int, Tails], prefix: str, *, one_type: bool
    ) -> None:
        self._place, self._prefix, self._one_type = place, prefix, one_type
        self._has_no_scales = not any("scale" in need.concepts for need in place.needs)
        self._names = [tail for tails in layers.values() for tail in tails]
        self._layers = {i: layers[i] for i in place.layers if i in layers}
        self._tails: dict[str, dict[int, StoredTensor]] = {}
        for i, tails in self._layers.items():
            for tail, tensor in tails.items():
                self._tails.setdefault(tail, {})[i] = tensor
        self._usual = {tail: self._usual_shape(held) for tail, held in self._tails.items()}

    def compared(self) -> OfKind:
        covered = self._covered()
        packed = self._packed(covered)
        again = self._of_other_shape(covered)
        holdings: list[Holding] = []
        differences: list[Difference] = []
        is_settled = len(self._layers) >= _ENOUGH or not any(
            map(_is_upright, covered.covers.values())
        )
        for tail, held in (covered.covers | packed).items():
            if held.is_turned and not is_settled and tail not in packed:
                for i, tensor in self._tails[tail].items():
                    differences.append(other_shape(tensor, held.needs, i, held.shape(None)))
                continue
            for each in self._each(tail, held):
                if isinstance(each, Holding):
                    holdings.append(each)
                else:
                    differences.append(each)
        for tail, held in again.covers.items():
            for i, tensor in self._tails[tail].items():
                shape = held.shape(None)
                differences.append(other_shape(tensor, held.needs, i, shape))
        for need in again.needs:
            differences += [missing("", (need,), i, need.shape) for i in self._place.layers]
        taken = covered.covers.keys() | packed.keys() | again.covers.keys()
        others = [
            (tensor, i)
            for tail, held in self._tails.items()
            if tail not in taken
            for i, tensor in held.items()
        ]
        return OfKind(holdings, differences, others)

    def _covered(self) -> Covered:
        """The tensors that most layers have, with the rows that they hold."""
        half = len(self._layers) / 2
        masks = {tail for tail in masks_in(self._tails) if self._usual[tail] is None}
        common = [
            tail
            for tail, held in self._tails.items()
            if len(held) >= half and not is_computed(tail) and not self._is_scale(tail)
            if tail not in masks
        ]
        return cover(self._items(common), self._place.needs)

    def _is_scale(self, tail: str) -> bool:
        """Whether a tensor stands beside a quantised one, in a kind that has no scales itself."""
        return self._has_no_scales and is_scale(tail)

    def _items(self, tails: Sequence[str]) -> list[Item]:
        """The tensors as items; in one layer alone, a strange name is not taken for a row's."""
        items = items_of((t, pattern(t), self._usual[t], concepts(t)) for t in tails)
        if len(self._layers) > 1:
            return items
        return [
            msgspec.structs.replace(item, is_strange=is_strange(item.tails[0], self._names))
            for item in items
        ]

    def _packed(self, covered: Covered) -> dict[str, Cover]:
        """Rows whose codes stand several in one number, along the first or the last side."""
        held: dict[str, Cover] = {}
        for side in (0, -1):
            items = [self._unpacked(item, side) for item in covered.items]
            again = cover([item for item in items if item is not None], covered.needs)
            held |= again.covers
            covered.needs = again.needs
            covered.items = [
                item for item in covered.items if not again.covers.keys() & set(item.tails)
            ]
        return held

    def _unpacked(self, item: Item, side: int) -> Item | None:
        """Tensors of packed codes in the shape that they have one by one."""
        dtypes = {tensor.dtype for tail in item.tails for tensor in self._tails[tail].values()}
        codes = CODES.get(dtypes.pop()) if len(dtypes) == 1 else None
        if codes is None or not item.shape:
            return None
        shape = list(item.shape)
        shape[side] *= codes
        return msgspec.structs.replace(item, shape=tuple(shape))

    def _of_other_shape(self, covered: Covered) -> Covered:
        """Tensors that are called as a row that has none, but are of another shape."""
        items = [msgspec.structs.replace(item, shape=None) for item in covered.items]
        return cover(items, covered.needs, least=_ALIKE)

    def _each(self, tail: str, cover: Cover) -> Iterator[Holding | Difference]:
        """A tensor in every layer."""
        held, shape = self._tails[tail], self._usual[tail]
        dtype = Counter(tensor.dtype for tensor in held.values()).most_common(1)[0][0]
        for i in self._place.layers:
            tensor = held.get(i)
            if tensor is None:
                name = f"{self._prefix}{i}.{tail}" if self._prefix else ""
                yield missing(name, cover.needs, i, cover.shape(shape))
            elif tensor.shape != shape:
                yield other_shape(tensor, cover.needs, i, cover.shape(shape))
            else:
                yield Holding(tensor, cover, i)
                if self._one_type and tensor.dtype != dtype:
                    yield other_type(tensor, cover.needs, i, dtype)

    def _usual_shape(self, held: Mapping[int, StoredTensor]) -> Shape | None:
        return Counter(tensor.shape for tensor in held.values()).most_common(1)[0][0]
