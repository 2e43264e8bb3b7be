"""Which further change would let a refused one stand."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from txcalc.exact.quantity import Letter

NEAR = 64
MOST = 12
"""How far from the stated value a dimension is sought, and how many values are tried."""


def candidates(
    problem: str, letters: Mapping[str, Letter], done: Container[str]
) -> Iterator[tuple[str, int]]:
    """Names and values that may do, the likeliest first.

    ``problem`` is what is refused, ``letters`` are the dimensions by path as they were before any
    change, ``done`` the paths that are set already.  A dimension that follows from others may keep
    the value that it had; others may divide, or be divided by, the numbers of the problem.
    """
    named = {
        letter.name: letter
        for path, letter in letters.items()
        if path not in done and re.search(rf"\b{letter.name}\b", problem)
    }
    for name, letter in named.items():
        if letter.definition is not None:
            yield name, int(letter.value)
    numbers = {int(digits) for digits in re.findall(r"\b[1-9][0-9]{0,15}\b", problem)}
    for name, letter in named.items():
        for value in _near(int(letter.value), numbers):
            yield name, value


def _near(stated: int, numbers: set[int]) -> list[int]:
    """Numbers, and their divisors and multiples, by their distance from a stated value."""
    near = set(numbers)
    for number in numbers:
        below = stated // number * number
        near |= {below, below + number}
        near |= {n for n in range(max(1, stated - NEAR), stated + NEAR + 1) if number % n == 0}
    return sorted(near - {0, stated}, key=lambda value: (abs(value - stated), value))[:MOST]
