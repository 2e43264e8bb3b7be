"""``first``: the least whole number of a letter at which one quantity reaches another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from txcalc.exact.emit import compiled
from txcalc.exact.moved import moved
from txcalc.exact.quantity import Letter, Number, Quantity
from txcalc.exact.search import least_true

Sides = Callable[[Letter], tuple[Quantity, Quantity]]
"""Of a letter, the two quantities of one unit of which the first has to reach the second."""


def first(name: str, sides: Sides, about: str = "") -> Quantity:
    """The least ``n`` from 1 on at which ``a >= b`` for ``a, b = sides(n)``.

    The condition, once true, has to stay true as the letter grows.  Both sides are compiled once
    and evaluated at each number that is tried; the derivation holds them at the least one.

    Raises:
        NeverError: no number up to 10^15 is large enough.
    """
    probe = Letter(1, name, about=about)
    a, b = (compiled(side, [name]) for side in sides(probe))
    least = Letter(least_true(lambda n: a(n) >= b(n)), name, about=about)
    return Quantity(least.value, "", "first", (least, *sides(least)))


def evaluations(node: Quantity) -> Iterator[tuple[Letter, Number, Number, Number]]:
    """The letter of a ``first`` with the numbers that prove it, and both sides at each of them.

    At the number itself the condition holds; at the one before it, from 1 on, it does not.
    """
    least, *sides = node.args
    assert isinstance(least, Letter)
    n = int(least.value)
    a, b = (compiled(side, [least.name]) for side in sides)
    for number in range(max(1, n - 1), n + 1):
        yield least, number, a(number), b(number)


def is_asked(letter: Letter, name: str) -> bool:
    """Whether a letter is the question's own of this name."""
    return letter.name == name and not letter.path and letter.definition is None


def first_of(name: str, a: Quantity, b: Quantity, about: str = "") -> Quantity:
    """The same of two derivations that hold whatever the letter of that name in them is.

    Raises:
        NeverError: no number up to 10^15 is large enough.
    """
    gap = compiled(a - b, [name])
    least = Letter(least_true(lambda n: gap(n) >= 0), name, about=about)
    sides = (moved(side, lambda letter: is_asked(letter, name), least) for side in (a, b))
    return Quantity(least.value, "", "first", (least, *sides))
