"""Which numbered tensors are the layers of which stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from txcalc.accounts.matching.names import Stacked, Tails, parent
from txcalc.accounts.matching.needs import Place
from txcalc.accounts.matching.words import concepts, likeness

_TOWER = ("vision", "visual", "image", "audio", "speech", "sound", "video", "tower")
_LOOKED_AT = 3
"""Layers of a kind that are compared."""
_LEAST = 0.75
"""A likeness below which numbered tensors are no stack's."""
_LEAST_ALIKE = 0.1
"""The least share of rows that have a tensor of their size; of quantised ones only norms do."""


class Assigned(msgspec.Struct, frozen=True):
    """The tensors of a stack by the number of their layer.

    Of several ``prefixes`` each holds other parts of the same layers, or further layers; then a
    missing tensor has no ``prefix`` by which it would be called.
    """

    prefixes: tuple[str, ...]
    layers: Mapping[int, Tails]

    @property
    def prefix(self) -> str:
        """What stands before the number of a layer; nothing where that differs."""
        return self.prefixes[0] if len(self.prefixes) == 1 else ""

    def names(self) -> Iterator[str]:
        """The names of all tensors."""
        return (tensor.name for tails in self.layers.values() for tensor in tails.values())


def assigned(placed: Mapping[str, Sequence[Place]], stacked: Stacked) -> dict[str, Assigned]:
    """The numbered tensors that are each stack's layers, the likeliest first."""
    scores = sorted(
        (
            (_score(stack, of_stack, prefix, layers), stack, prefix)
            for stack, of_stack in placed.items()
            for prefix, layers in stacked.items()
        ),
        reverse=True,
    )
    chosen: dict[str, Assigned] = {}
    free = dict(stacked)
    for score, stack, prefix in scores:
        if score >= _LEAST and stack not in chosen and prefix in free:
            chosen[stack] = _whole(prefix, placed[stack], free)
            for taken in chosen[stack].prefixes:
                del free[taken]
    return chosen


def _whole(prefix: str, of_stack: Sequence[Place], free: Stacked) -> Assigned:
    """The layers of a prefix, with those of others that hold what they lack."""
    layers = free[prefix]
    alone = Assigned((prefix,), layers)
    if _exact(of_stack, layers) == sum(len(place.layers) for place in of_stack):
        return alone
    parts = [p for p in free if p == prefix or _is_beside(p, prefix, free)]
    if len(parts) > 1:
        return Assigned((prefix, *(p for p in parts if p != prefix)), _merged(parts, free))
    return _continued(of_stack, free) or alone


def _is_beside(other: str, prefix: str, free: Stacked) -> bool:
    """Whether a prefix holds other parts of the same layers."""
    return parent(other) == parent(prefix) and set(free[other]) == set(free[prefix])


def _merged(prefixes: Sequence[str], free: Stacked) -> dict[int, Tails]:
    """Layers in several parts, the last word of each prefix before the tails."""
    layers: dict[int, Tails] = {}
    for prefix in prefixes:
        part = prefix.rstrip(".").rpartition(".")[2]
        for i, tails in free[prefix].items():
            layers.setdefault(i, {}).update({f"{part}.{t}": tensor for t, tensor in tails.items()})
    return layers


def _continued(of_stack: Sequence[Place], free: Stacked) -> Assigned | None:
    """Layers that are numbered anew in several prefixes, each of which goes on where one ends."""
    count = 1 + max(i for place in of_stack for i in place.layers)
    layers: dict[int, Tails] = {}
    prefixes: list[str] = []
    while len(layers) < count:
        at = len(layers)
        moved = {
            prefix: {at + i: tails for i, tails in numbered.items()}
            for prefix, numbered in free.items()
            if prefix not in prefixes and set(numbered) == set(range(len(numbered)))
        }
        fitting = [p for p, each in moved.items() if _exact(of_stack, each) == len(each)]
        if not fitting:
            return None
        prefixes.append(max(fitting, key=lambda prefix: len(moved[prefix])))
        layers |= moved[prefixes[-1]]
    return Assigned(tuple(prefixes), layers)


def _score(
    stack: str, of_stack: Sequence[Place], prefix: str, layers: Mapping[int, Tails]
) -> float:
    """How likely numbered tensors are the layers of a stack."""
    expected = {i for place in of_stack for i in place.layers}
    together = len(expected & set(layers)) / len(expected | set(layers))
    if not together:
        return 0.0
    alike = [_alike(place, layers[i]) for place, i in _some(of_stack, layers)]
    exact = 2 * _exact(of_stack, layers) / len(expected)
    like = sum(alike) / len(alike) if alike else 0.0
    return (together + like + exact if like > _LEAST_ALIKE or exact else 0.0) + _hint(stack, prefix)


def _some(of_stack: Sequence[Place], layers: Mapping[int, Tails]) -> Iterator[tuple[Place, int]]:
    for place in of_stack:
        there = [i for i in place.layers if i in layers]
        yield from ((place, i) for i in there[:_LOOKED_AT])


def _exact(of_stack: Sequence[Place], layers: Mapping[int, Tails]) -> int:
    """Layers that hold as many elements as theirs need."""
    return sum(
        sum(tensor.elements for tensor in layers[i].values()) == place.elements
        for place in of_stack
        for i in place.layers
        if i in layers
    )


def _alike(place: Place, tails: Tails) -> float:
    """The share of a layer's rows that have a tensor of their size, or one called alike."""
    if all(tensor.shape is None for tensor in tails.values()):
        spoken = [concepts(tail) for tail in tails]
        alike = sum(
            max((likeness(need.concepts, s) for s in spoken), default=0) for need in place.needs
        )
        return alike / max(1, len(place.needs))
    sizes = Counter(tensor.elements for tensor in tails.values())
    wanted = Counter(need.rows * need.columns for need in place.needs)
    return sum((sizes & wanted).values()) / max(1, sum(wanted.values()))


def _hint(stack: str, prefix: str) -> float:
    """What the words of a prefix say for a stack."""
    text = prefix.lower()
    is_tower = any(word in text for word in _TOWER)
    if stack.startswith(("tower.", "projector.")):
        return 0.25 * is_tower
    if is_tower:
        return -1.0
    other = "decoder" if stack == "encoder" else "encoder"
    return 0.25 * (stack in text) - 0.25 * (other in text and stack not in text)
