"""A derivation as a function of chosen letters: constants folded once, then exact arithmetic.

Here products distribute over sums, so that what is left to do for each point is a polynomial in the
letters.  Compiled code uses generated identifiers only, never names from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import msgspec

from txcalc.exact.counting import expected_distinct, series_sum, true_places
from txcalc.exact.quantity import Letter, Number, Quantity, exact

Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, Fraction]
"""Product of (code, power) -> coefficient."""


class Code(msgspec.Struct, frozen=True):
    """Source of a whole number, ``above`` over ``below``; ``below`` is "1" where it divides."""

    above: str
    below: str


def compiled(
    quantity: Quantity, letters: Sequence[str], places: Mapping[str, str] = {}
) -> Callable[..., Number]:
    """The derivation as a function of letters that a :class:`Compiler` knows, by position."""
    code = Compiler(letters, places).code(quantity)
    names = ", ".join(variables(letters))
    function: Callable[..., Number] = eval(
        f"lambda {names}: ratio({code.above}, {code.below})", NAMESPACE
    )
    return function


def variables(letters: Sequence[str]) -> list[str]:
    """The identifier of each letter in generated code."""
    return [f"v{i}" for i in range(len(letters))]


def ratio(above: Number, below: Number) -> Number:
    """An exact quotient, an integer wherever it is one."""
    return exact(Fraction(above) / below)


NAMESPACE: dict[str, Any] = {
    "__builtins__": {},
    "ratio": ratio,
    "series": series_sum,
    "distinct": expected_distinct,
    "tally": true_places,
    "least": min,
    "most": max,
}
"""What generated code may call."""


class _Rational(msgspec.Struct, frozen=True):
    above: Polynomial
    below: Polynomial


class Compiler:
    """Turns derivations into code; letters that are not chosen stay constants.

    A letter of the question is chosen by its name, a dimension by the path where it was read:
    ``places`` gives each such path one of the names.
    """

    def __init__(self, letters: Sequence[str], places: Mapping[str, str] = {}) -> None:
        self._variables = dict(zip(letters, variables(letters), strict=True))
        self._places = places
        self._known: dict[int, tuple[Quantity, _Rational]] = {}

    def code(self, quantity: Quantity) -> Code:
        """The source of a quantity's value."""
        value = self._rational(quantity)
        scale = lcm(*(c.denominator for p in (value.above, value.below) for c in p.values()))
        above, below = (_source(_scaled(p, scale)) for p in (value.above, value.below))
        return Code(above, below)

    def _rational(self, node: Quantity) -> _Rational:
        if id(node) not in self._known:
            self._known[id(node)] = node, _reduced(self._build(node))
        return self._known[id(node)][1]

    def _build(self, node: Quantity) -> _Rational:
        match node.op:
            case "const":
                return _constant(node.value)
            case "letter":
                return self._letter(node)
            case "sum":
                first, *others = map(self._rational, node.args)
                for other in others:
                    first = _plus(first, other)
                return first
            case "product":
                value = _constant(1)
                for arg in node.args:
                    factor = self._rational(arg)
                    value = _reduced(
                        _Rational(
                            _product(value.above, factor.above), _product(value.below, factor.below)
                        )
                    )
                return value
            case "quotient":
                above, below = map(self._rational, node.args)
                return _Rational(
                    _product(above.above, below.below), _product(above.below, below.above)
                )
            case _:
                return self._call(node)

    def _letter(self, node: Quantity) -> _Rational:
        assert isinstance(node, Letter)
        if node.definition is not None:
            return self._rational(node.definition)
        name = self._places.get(node.path) if node.path else node.name
        return _atom(self._variables[name]) if name in self._variables else _constant(node.value)

    def _call(self, node: Quantity) -> _Rational:
        """An operation that is no polynomial: folded if it is constant, else one piece of code."""
        args = [self._rational(arg) for arg in node.args]
        if all(map(_is_constant, args)):
            return _constant(node.value)
        match node.op:
            case "floor":
                above, below = self._quotient(*node.args)
                return _atom(f"(({above})//({below}))")
            case "ceil":
                above, below = self._quotient(*node.args)
                return _atom(f"(-(-({above})//({below})))")
            case "min":
                return _atom(f"least({', '.join(map(self._number, node.args))})")
            case "max":
                return _atom(f"most({', '.join(map(self._number, node.args))})")
            case "series":
                power, low, high, *cap = map(self._number, node.args)
                return _atom(f"series({power}, {cap[0] if cap else None}, {low}, {high})")
            case "distinct" | "tally":
                return _atom(f"{node.op}({', '.join(map(self._number, node.args))})")
            case _:
                raise KeyError(node.op)

    def _quotient(self, a: Quantity, b: Quantity) -> tuple[str, str]:
        above, below = self.code(a), self.code(b)
        return f"({above.above})*({below.below})", f"({above.below})*({below.above})"

    def _number(self, node: Quantity) -> str:
        code = self.code(node)
        return code.above if code.below == "1" else f"ratio({code.above}, {code.below})"


def _constant(value: Number) -> _Rational:
    return _Rational({(): Fraction(value)}, {(): Fraction(1)})


def _atom(code: str) -> _Rational:
    return _Rational({((code, 1),): Fraction(1)}, {(): Fraction(1)})


def _is_constant(value: _Rational) -> bool:
    return all(not monomial for p in (value.above, value.below) for monomial in p)


def _plus(a: _Rational, b: _Rational) -> _Rational:
    if a.below == b.below:
        return _Rational(_sum(a.above, b.above), a.below)
    above = _sum(_product(a.above, b.below), _product(b.above, a.below))
    return _Rational(above, _product(a.below, b.below))


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    terms = dict(a)
    for monomial, coefficient in b.items():
        terms[monomial] = terms.get(monomial, Fraction(0)) + coefficient
    return {monomial: c for monomial, c in terms.items() if c}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    terms: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            powers = dict(left)
            for code, power in right:
                powers[code] = powers.get(code, 0) + power
            monomial = tuple(sorted(powers.items()))
            terms[monomial] = terms.get(monomial, Fraction(0)) + x * y
    return {monomial: c for monomial, c in terms.items() if c}


def _reduced(value: _Rational) -> _Rational:
    """Cancels a denominator of one term."""
    if len(value.below) != 1:
        return value
    [(monomial, coefficient)] = value.below.items()
    shared = {
        code: min([power, *(dict(m).get(code, 0) for m in value.above)]) for code, power in monomial
    }
    return _Rational(
        {_without(m, shared): c / coefficient for m, c in value.above.items()},
        {_without(monomial, shared): Fraction(1)},
    )


def _without(monomial: Monomial, shared: dict[str, int]) -> Monomial:
    return tuple((code, left) for code, p in monomial if (left := p - shared.get(code, 0)))


def _scaled(polynomial: Polynomial, scale: int) -> dict[Monomial, int]:
    return {monomial: int(c * scale) for monomial, c in polynomial.items()}


def _source(terms: dict[Monomial, int]) -> str:
    written = []
    for monomial, coefficient in terms.items():
        codes = [code for code, power in monomial for _ in range(power)]
        if coefficient != 1 or not codes:
            codes.insert(0, str(coefficient))
        written.append("*".join(codes))
    return " + ".join(written) or "0"
