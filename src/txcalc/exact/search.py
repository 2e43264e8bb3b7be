"""The least whole number at which a condition holds, by doubling and bisection."""

from __future__ import annotations

from collections.abc import Callable

from txcalc.exact.quantity import LARGEST


class NeverError(ValueError):
    """A condition that holds at no number that is looked at."""


def least_true(holds: Callable[[int], bool]) -> int:
    """The least number from 1 on at which ``holds``, which once true stays true.

    Raises:
        NeverError: it holds nowhere up to 10^15.
    """
    above = 1
    while not holds(above):
        if above > LARGEST:
            raise NeverError("never")
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above
