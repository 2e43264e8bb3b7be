"""What tensors are that no row needs: buffers, what is stored though tied, scales, towers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable

import msgspec

from txcalc.accounts.matching.differences import Holding
from txcalc.accounts.matching.names import masks_in, pattern
from txcalc.accounts.matching.words import concepts, is_computed, is_scale, is_strange
from txcalc.model.model import Model
from txcalc.workload.checkpoint import COUNTING, StoredTensor

Placed = tuple[StoredTensor, int | None]
"""A tensor and the number of its layer, where it is in one of a stack."""

_TABLES = re.compile(r"(^|[._])(shared|encoder|decoder)[._]")
"""Where a table stands that encoder and decoder share."""
_TOWER = re.compile(
    r"(vision|visual|image|img|audio|speech|sound|video|acoustic|projector|connector|merger|"
    r"resampler|qformer|aligner|modal|perceiver|tower|patch|query_tokens|language_projection|"
    r"generation_|newline|separator)"
)
"""Words of what joins a text model to images and sound."""


_SEVERAL = 4
"""Tensors of a module that make it more than a misplaced one."""


class Leftover(msgspec.Struct):
    """Tensors beside those of rows, by what they are."""

    buffers: list[StoredTensor] = []
    tied: list[StoredTensor] = []
    scales: list[StoredTensor] = []
    uncovered: list[StoredTensor] = []
    extra: list[Placed] = []


def classified(model: Model, others: Iterable[Placed], held: Iterable[Holding]) -> Leftover:
    """Each tensor without a row."""
    held, others = list(held), list(others)
    left, ties = Leftover(), Ties(model, held)
    scales = _scales(held, (tensor.name for tensor, _ in others))
    names = [each.tensor.name for each in held] + [tensor.name for tensor, _ in others]
    masks = masks_in(set(names)) if any(tensor.shape is None for tensor, _ in others) else set()
    foreign = Foreign(model, held, (tensor for tensor, _ in others))
    for tensor, layer in others:
        if pattern(tensor.name) in scales:
            left.scales.append(tensor)
        elif layer is None and foreign.has(tensor):
            left.uncovered.append(tensor)
        elif is_buffer(tensor) or (tensor.shape is None and tensor.name in masks):
            left.buffers.append(tensor)
        elif layer is None and not is_strange(tensor.name, names) and ties.takes(tensor):
            left.tied.append(tensor)
        else:
            left.extra.append((tensor, layer))
    return left


def module(name: str) -> str:
    """What stands before the last word of a name."""
    return name.rpartition(".")[0]


def _scales(held: Iterable[Holding], others: Iterable[str]) -> set[str]:
    """The patterns of what stands beside a weight that is held, in one layer or in more."""
    modules = {module(each.tensor.name) for each in held}
    return {pattern(name) for name in others if is_scale(name) and within(name, modules)}


def within(name: str, modules: Container[str]) -> bool:
    """Whether a tensor belongs to one of these modules."""
    above = module(name)
    return above in modules or module(above) in modules


def is_buffer(tensor: StoredTensor) -> bool:
    """Whether a tensor is known to be no weight: by its name, its type, or as a square mask."""
    if is_computed(tensor.name) or tensor.dtype in COUNTING:
        return True
    shape = tensor.shape or ()
    return len(shape) == 4 and shape[:2] == (1, 1) and shape[2] == shape[3]


class Foreign:
    """What a text model's description does not cover: towers, and what joins them to it."""

    def __init__(
        self, model: Model, held: Iterable[Holding], others: Iterable[StoredTensor]
    ) -> None:
        is_whole = model.towers and model.left_out is None
        self._is_text = model.scope == "text" and not is_whole
        self._own: set[str] = set()
        self._sizes: Counter[str] = Counter()
        if self._is_text:
            self._own = {start for each in held for start in starts(each.tensor.name)}
            self._sizes = Counter(self._top(tensor.name) for tensor in others)

    def has(self, tensor: StoredTensor) -> bool:
        """Whether a tensor stands there: by its words, or among several that no row is among."""
        if is_of_module(tensor.name):
            return True
        if not self._is_text:
            return False
        return is_of_tower(tensor.name) or self._sizes[self._top(tensor.name)] >= _SEVERAL

    def _top(self, name: str) -> str:
        """The first module on the way to a tensor that holds no row of the model."""
        return next((start for start in starts(name) if start not in self._own), name)


def is_of_tower(name: str) -> bool:
    """Whether a name has a word of towers in it."""
    return _TOWER.search(name.lower()) is not None


def is_of_module(name: str) -> bool:
    """Whether a name is that of a module for further tokens."""
    return ("mtp" in name or "nextn" in name) and "mtp" in concepts(name)


def starts(name: str) -> list[str]:
    """The modules around a tensor, the outermost first."""
    words = name.split(".")
    return [".".join(words[:n]) for n in range(1, len(words))]


class Ties:
    """Tensors that a file may store again: a tied head, and a table that two stacks share."""

    def __init__(self, model: Model, held: Iterable[Holding]) -> None:
        tables = {h.tensor.shape for h in held if _is_of(h, "embedding", "tokens")}
        biases = {h.tensor.shape for h in held if _is_of(h, "head", "output_bias")}
        is_tied = model.head is not None and model.head.tied
        self._tables = tables if model.has_encoder and model.has_decoder else set()
        self._heads, self._biases = (tables, biases) if is_tied else (set(), set())
        self._taken: set[tuple[str, bool]] = set()

    def takes(self, tensor: StoredTensor) -> bool:
        """Whether a tensor is one of them, the first of its kind."""
        spoken = concepts(tensor.name)
        is_bias = "bias" in spoken
        if is_bias:
            return (
                tensor.shape in self._biases and "head" in spoken and self._first("head", is_bias)
            )
        if tensor.shape in self._tables and (place := _TABLES.search(tensor.name)):
            return self._first(place[2], is_bias)
        is_head = "tokens" not in spoken if tensor.shape else "head" in spoken
        return tensor.shape in self._heads and is_head and self._first("head", is_bias)

    def _first(self, place: str, is_bias: bool) -> bool:
        is_new = (place, is_bias) not in self._taken
        self._taken.add((place, is_bias))
        return is_new


def _is_of(holding: Holding, component: str, name: str) -> bool:
    """Whether a tensor holds a row outside of layers that is called so, of any stack."""
    row = holding.cover.needs[0].row
    return row.component == component and row.name.partition(".")[0] == name
