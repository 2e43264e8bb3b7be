"""Which numbered tensors are the layers of which stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from txcalc.accounts.matching.names import Stacked, Tails, parent
from txcalc.accounts.matching.needs import Place
from txcalc.accounts.matching.words import concepts, likeness

_TOWER = ("vision", "visual", "image", "audio", "speech", "sound", "video", "tower")
_LOOKED_AT = 3
"""Layers of a kind that are compared."""
_LEAST = 0.75
"""A likeness below which numbered tensors are no stack's."""


def assigned(placed: Mapping[str, Sequence[Place]], stacked: Stacked) -> dict[str, list[str]]:
    """The prefixes of each stack's layers; several where its layers are listed in parts."""
    scores = sorted(
        (
            (_score(stack, of_stack, prefix, layers), stack, prefix)
            for stack, of_stack in placed.items()
            for prefix, layers in stacked.items()
        ),
        reverse=True,
    )
    chosen: dict[str, list[str]] = {}
    taken: set[str] = set()
    for score, stack, prefix in scores:
        if score >= _LEAST and stack not in chosen and prefix not in taken:
            chosen[stack] = [prefix, *_beside(prefix, placed[stack], stacked)]
            taken |= set(chosen[stack])
    return chosen


def _beside(prefix: str, of_stack: Sequence[Place], stacked: Stacked) -> Iterator[str]:
    """Prefixes that hold other parts of the same layers."""
    layers = stacked[prefix]
    if _exact(of_stack, layers):
        return
    for other in stacked:
        if (
            other != prefix
            and parent(other) == parent(prefix)
            and set(stacked[other]) == set(layers)
        ):
            yield other


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
    return (together + like + exact if like > 0.25 or exact else 0.0) + _hint(stack, prefix)


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
