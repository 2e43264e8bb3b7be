"""Turning points: the least whole number of a letter at which one figure reaches another."""

from __future__ import annotations

from collections.abc import Callable

from txcalc.exact.emit import compiled
from txcalc.exact.quantity import LARGEST, Number, Quantity
from txcalc.exact.search import NeverError
from txcalc.exact.solve import first_of
from txcalc.workload.question import MEANINGS

Limit = Callable[[Number], str]
"""The words for what the quotient of both figures tends to."""


class Turning:
    """Turning points by address: their ``figures``, and why there are ``none`` of the others."""

    def __init__(self) -> None:
        self.figures: dict[str, Quantity] = {}
        self.none: dict[str, str] = {}

    def add(self, address: str, letter: str, a: Quantity, b: Quantity, limit: Limit) -> None:
        """The least number of a letter of the question from which ``a`` reaches ``b``.

        The condition, once true, stays true as the letter grows.
        """
        try:
            self.figures[address] = first_of(letter, a, b, MEANINGS[letter])
        except NeverError:
            tends_to = compiled(a / b, [letter])(LARGEST)
            self.none[address] = f"never: {limit(tends_to)}"
