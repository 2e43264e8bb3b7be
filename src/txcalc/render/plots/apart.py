"""Names moved apart where they would stand on each other."""

from __future__ import annotations

from collections.abc import Sequence


def apart(places: Sequence[float], gap: float, within: tuple[float, float]) -> list[float]:
    """The nearest places, in the same order, that are ``gap`` apart and lie ``within`` two ends.

    Neighbours that collide become one group about their mean; where there is no room for all, the
    names stay ``gap`` apart and run out below.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[tuple[float, int]] = []
    low, high = within
    for i in order:
        groups.append((_held(places[i], 1, gap, low, high), 1))
        while len(groups) > 1 and _collide(groups[-2], groups[-1], gap):
            (a, n), (b, m) = groups[-2:]
            middle = (a * n + b * m) / (n + m)
            groups[-2:] = [(_held(middle, n + m, gap, low, high), n + m)]
    moved = [0.0] * len(places)
    spread = [middle + gap * (i - (size - 1) / 2) for middle, size in groups for i in range(size)]
    for i, place in zip(order, spread, strict=True):
        moved[i] = place
    return moved


def _held(middle: float, size: int, gap: float, low: float, high: float) -> float:
    """The middle of a group, moved so that the group lies within two ends."""
    half = gap * (size - 1) / 2
    return min(max(middle, low + half), high - half)


def _collide(a: tuple[float, int], b: tuple[float, int], gap: float) -> bool:
    (below, n), (above, m) = a, b
    return above - below < gap * (n + m) / 2 - 1e-9
