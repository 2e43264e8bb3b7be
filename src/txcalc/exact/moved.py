"""A derivation at another value of one of its letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from txcalc.exact.operations import Function
from txcalc.exact.quantity import Letter, Number, Operation, Quantity, exact, ratio
from txcalc.exact.search import least_true

Chosen = Callable[[Letter], bool]
"""Whether a letter is the one that is given another value."""


def moved(root: Quantity, is_chosen: Chosen, letter: Letter) -> Quantity:
    """The same derivation with ``letter`` in the place of those chosen, and the value it has then.

    What does not depend on them is kept as it is.
    """
    return _Moved(is_chosen, letter).of(root)


class _Moved:
    def __init__(self, is_chosen: Chosen, letter: Letter) -> None:
        self._is_chosen, self._letter = is_chosen, letter
        self._known: dict[int, tuple[Quantity, Quantity]] = {}
        self._bound: list[Quantity] = []

    def of(self, node: Quantity) -> Quantity:
        """A node at the new value."""
        if id(node) not in self._known:
            self._known[id(node)] = node, self._made(node)
        return self._known[id(node)][1]

    def _made(self, node: Quantity) -> Quantity:
        if isinstance(node, Letter):
            return self._of_letter(node)
        if node.op == "first":
            self._bound.append(node.args[0])
        args = tuple(map(self.of, node.args))
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        if node.op == "first":
            return _first(args)
        return Quantity(_value(node.op, [arg.value for arg in args]), node.unit, node.op, args)

    def _of_letter(self, letter: Letter) -> Letter:
        if any(letter is bound for bound in self._bound):
            return letter
        if self._is_chosen(letter):
            return self._letter
        if letter.definition is None:
            return letter
        definition = self.of(letter.definition)
        if definition is letter.definition:
            return letter
        made = Letter(
            definition.value, letter.name, letter.path, definition, letter.unit, letter.about
        )
        made.origin = letter.origin
        return made


def _first(args: tuple[Quantity, ...]) -> Quantity:
    """The least number of a bound letter at which one side reaches the other."""
    bound, a, b = args
    assert isinstance(bound, Letter)

    def sides(n: int) -> tuple[Letter, Quantity, Quantity]:
        letter = Letter(n, bound.name, about=bound.about)
        at_n = [moved(side, lambda each: each is bound, letter) for side in (a, b)]
        return letter, at_n[0], at_n[1]

    def holds(n: int) -> bool:
        _, above, below = sides(n)
        return above.value >= below.value

    least = least_true(holds)
    return Quantity(least, "", "first", sides(least))


def _value(op: Operation, values: Sequence[Number]) -> Number:
    """What an operation makes of its operands' values."""
    match op:
        case "sum":
            return exact(sum(values))
        case "product":
            return exact(prod(values))
        case "quotient":
            return ratio(*values)
        case Function() as function:
            return exact(function.value(*values))
        case _:
            raise ValueError(f"{op} has no operands to move")
