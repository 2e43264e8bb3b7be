"""Rows that stand in no layer: tables, heads, norms, free tensors, and modules beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from txcalc.accounts.matching.cover import Item, cover, items_of
from txcalc.accounts.matching.differences import Holding, missing, other_shape
from txcalc.accounts.matching.leftover import Placed, is_of_module, is_of_tower
from txcalc.accounts.matching.names import pattern
from txcalc.accounts.matching.needs import Need, beside, is_beside_text, modules
from txcalc.accounts.matching.stacks import Assigned
from txcalc.accounts.matching.words import concepts, is_computed, is_scale, is_strange
from txcalc.model.model import Model
from txcalc.report.report import Difference

Others = dict[str, Placed]
"""Tensors that no row of a layer has taken, by name; what is taken here leaves it."""
_ALIKE = 0.5
"""The least likeness by which a tensor of another shape is taken for a row's."""


class Found(msgspec.Struct):
    """What tensors hold, and in what they differ."""

    holdings: list[Holding]
    differences: list[Difference]


def modules_in(model: Model, others: Others) -> Found:
    """The modules for further tokens, which a file may leave out as a whole."""
    if model.mtp is None:
        return Found([], [])
    n_layers = max(int(stack.count.value) for stack in model.stacks.values())
    names = [
        name
        for name, (_, layer) in others.items()
        if (layer is not None and layer >= n_layers) or is_of_module(name)
    ]
    if not names:
        return Found([], [])
    needs = modules(model)
    covered = cover(_items(names, others, needs), needs)
    held = [Holding(others.pop(name)[0], each) for name, each in covered.covers.items()]
    return Found(held, [missing("", (need,), None, need.shape) for need in covered.needs])


def rows_outside(
    model: Model, others: Others, chosen: Mapping[str, Assigned], unnumbered: Sequence[Need]
) -> Found:
    """Each other row; of a head that is tied nothing has to be there."""
    return _Outside(model, others, chosen).found(unnumbered)


class _Outside:
    def __init__(self, model: Model, others: Others, chosen: Mapping[str, Assigned]) -> None:
        self._model, self._others = model, others
        self._names = [*others, *(n for each in chosen.values() for n in each.names())]
        text = [p for stack in model.stacks if stack in chosen for p in chosen[stack].prefixes]
        beside_text = [p for each in chosen.values() for p in each.prefixes if p not in text]
        self._towers = tuple(_top(prefix, text) for prefix in beside_text)
        self._found = Found([], [])

    def found(self, unnumbered: Sequence[Need]) -> Found:
        """The text model's rows in tensors that are not called as a tower's, then the others."""
        needs = [*(need for need in beside(self._model) if not need.weight.tied), *unnumbered]
        of_towers = [need for need in needs if is_beside_text(need.row)]
        of_text = [need for need in needs if not is_beside_text(need.row)]
        is_whole = self._model.scope == "model"
        names = [name for name in self._others if is_whole or not self._is_of_towers(name)]
        self._of_other_shape(names, self._take(names, of_text))
        names = [name for name in self._others if self._is_of_towers(name)]
        left = self._take(names, of_towers)
        self._of_other_shape([*self._others], self._take([*self._others], left))
        return self._found

    def _is_of_towers(self, name: str) -> bool:
        """Whether a tensor is called as a tower's, or as those of its layers."""
        return is_of_tower(name) or name.startswith(self._towers) or not self._model.stacks

    def _take(self, names: Iterable[str], needs: Sequence[Need]) -> list[Need]:
        """Gives rows the tensors that hold them; those without one are left."""
        covered = cover(self._items(names, needs), needs)
        for name, held in covered.covers.items():
            tensor, layer = self._others.pop(name)
            if held.is_turned and held.needs[0].row.component in ("embedding", "head"):
                turned = other_shape(tensor, held.needs, layer, held.shape(None))
                self._found.differences.append(turned)
            else:
                self._found.holdings.append(Holding(tensor, held))
        return covered.needs

    def _of_other_shape(self, names: Iterable[str], needs: Sequence[Need]) -> None:
        """Tensors that are called as a row that has none, but are of another shape."""
        there = [name for name in names if name in self._others]
        unshaped = [msgspec.structs.replace(item, shape=None) for item in self._items(there, needs)]
        again = cover(unshaped, needs, least=_ALIKE)
        for name, held in again.covers.items():
            tensor, layer = self._others.pop(name)
            wrong = other_shape(tensor, held.needs, layer, held.shape(None))
            self._found.differences.append(wrong)
        self._found.differences += [missing("", (need,), None, need.shape) for need in again.needs]

    def _items(self, names: Iterable[str], needs: Sequence[Need]) -> list[Item]:
        return [
            msgspec.structs.replace(item, is_strange=is_strange(item.pattern, self._names))
            for item in _items(names, self._others, needs)
        ]


def _items(names: Iterable[str], others: Others, needs: Sequence[Need]) -> list[Item]:
    """Tensors that may be rows': scales of quantisation where a row is such itself."""
    has_scales = any("scale" in need.concepts for need in needs)
    return items_of(
        (name, pattern(name), others[name][0].shape, concepts(name))
        for name in names
        if not is_computed(name) and (has_scales or not is_scale(name))
    )


def _top(prefix: str, others: Iterable[str]) -> str:
    """The first modules of a prefix that none of the others has."""
    others = list(others)
    words = prefix.split(".")
    starts = (".".join(words[:n]) + "." for n in range(1, len(words)))
    return next((s for s in starts if not any(o.startswith(s) for o in others)), prefix)
