"""A derivation as Python: exact arithmetic on whole numbers, as a function of chosen letters.

Compiled code uses generated identifiers only, never names from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import lcm
from typing import Any

import msgspec

from txcalc.exact.operations import CHOICES, FUNCTIONS
from txcalc.exact.polynomial import Atom, Call, First, Polynomial, Polynomials, Rational, Variable
from txcalc.exact.quantity import Number, Quantity, exact, ratio
from txcalc.exact.search import least_true

NAMESPACE: dict[str, Any] = {
    "__builtins__": {},
    "exact": exact,
    "first": least_true,
    "ratio": ratio,
    **{function.name: function.value for function in FUNCTIONS},
}
"""What generated code may call."""


class Code(msgspec.Struct, frozen=True):
    """Source of a number, ``above`` over ``below``; ``below`` is "1" where it divides.

    ``is_whole`` says that ``above`` is a whole number whatever the letters are.
    """

    above: str
    below: str
    is_whole: bool = False

    def __str__(self) -> str:
        return self.above if self.below == "1" else f"ratio({self.above}, {self.below})"


def compiled(
    quantity: Quantity, letters: Sequence[str], places: Mapping[str, str] = {}
) -> Callable[..., Number]:
    """The derivation as a function of letters that a :class:`Compiler` knows, by position."""
    code = Compiler(letters, places).code(quantity)
    function: Callable[..., Number] = eval(
        f"lambda {', '.join(variables(letters))}: exact({code})", NAMESPACE
    )
    return function


def variables(letters: Sequence[str]) -> list[str]:
    """The identifier of each letter in generated code."""
    return [f"v{i}" for i in range(len(letters))]


class Compiler:
    """Turns derivations into code, in letters that :class:`Polynomials` tells how to choose."""

    def __init__(self, letters: Sequence[str], places: Mapping[str, str] = {}) -> None:
        self._polynomials = Polynomials(letters, places)
        self._variables = dict(zip(letters, variables(letters), strict=True))
        self._atoms: list[str] = []

    def code(self, quantity: Quantity) -> Code:
        """The source of a quantity's value."""
        value = self._polynomials.of(quantity)
        for atom in self._polynomials.atoms[len(self._atoms) :]:
            self._atoms.append(self._atom(atom))
        return self._quotient(value)

    def _atom(self, atom: Atom) -> str:
        match atom:
            case Variable():
                return self._variables.setdefault(atom.name, f"n{len(self._atoms)}")
            case First():
                gap = self._quotient(atom.gap)
                return f"first(lambda {self._atoms[atom.bound]}: {gap} >= 0)"
            case Call():
                return atom.function.python(*map(self._quotient, atom.args))

    def _quotient(self, value: Rational) -> Code:
        scale = lcm(*(c.denominator for p in (value.above, value.below) for c in p.values()))
        above, below = self._sum(value.above, scale), self._sum(value.below, scale)
        return Code(above, below, self._is_whole(value))

    def _is_whole(self, value: Rational) -> bool:
        """Whether a value is a whole number at any letters, as far as its form shows."""
        return value.below == {(): 1} and all(
            isinstance(coefficient, int)
            and all(self._is_whole_atom(self._polynomials.atoms[atom]) for atom, _ in monomial)
            for monomial, coefficient in value.above.items()
        )

    def _is_whole_atom(self, atom: Atom) -> bool:
        match atom:
            case Variable() | First():
                return True
            case Call(function, args):
                return function.is_whole or (function in CHOICES and all(map(self._is_whole, args)))

    def _sum(self, polynomial: Polynomial, scale: int) -> str:
        terms = []
        for monomial, coefficient in polynomial.items():
            factors = [self._atoms[atom] for atom, power in monomial for _ in range(power)]
            if coefficient * scale != 1 or not factors:
                factors.insert(0, str(int(coefficient * scale)))
            terms.append("*".join(factors))
        return " + ".join(terms) or "0"
