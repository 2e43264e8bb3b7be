"""A second reader of printed formulas: its own tokens, its own grammar, exact arithmetic.

sum    = [-] term { (+ | -) term }
term   = power { (· | /) power }
power  = atom [ ^ atom ]
atom   = integer | name | ( sum ) | call
call   = floor( sum ) | ceil( sum ) | min( sum, ... ) | max( sum, ... )
       | sum( sum , t = atom .. sum ) | tally( sum , places ) | first( name : sum >= sum )
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from math import ceil, floor
from operator import add
from typing import Any

Names = Mapping[str, Any]
Reading = Callable[[Names], Any]
"""What a piece of a formula is worth, once its names have values."""

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][\w-]*(?:\.[\w-]+)*)|(?P<digits>[0-9]+)|(?P<sign>\.\.|>=|[-+·/^(),=:]))"
)
DIGITS = Context(prec=90)


def reckon(formula: str, names: Names | None = None) -> Fraction:
    """The exact value of a formula."""
    return Fraction(_Parser(formula, Fraction).whole()({} if names is None else names))


def estimate(formula: str, names: Mapping[str, Fraction] | None = None) -> Fraction:
    """The value of a formula to 80 digits or more, where powers are too high to be exact."""
    with localcontext(DIGITS):
        known = {n: Decimal(v.numerator) / v.denominator for n, v in (names or {}).items()}
        return Fraction(_Parser(formula, Decimal).whole()(known))


class FormulaError(ValueError):
    """A formula outside the grammar, or a name without a value."""


class _Parser:
    def __init__(self, text: str, number: Callable[[str], Any]) -> None:
        self._text = text
        self._number = number
        self._tokens = self._split(text)
        self._at = 0

    def _split(self, text: str) -> list[tuple[str, str]]:
        tokens, at = [], 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise FormulaError(f"{text[at:]!r} of {text!r}")
            tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        return [*tokens, ("end", "")]

    def whole(self) -> Reading:
        reading = self._sum()
        self._expect("")
        return reading

    def _peek(self) -> str:
        return self._tokens[self._at][1]

    def _take(self) -> tuple[str, str]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _accept(self, *signs: str) -> str:
        return self._take()[1] if self._peek() in signs else ""

    def _expect(self, sign: str) -> None:
        found = self._take()[1]
        if found != sign:
            raise FormulaError(f"{found!r} where {sign!r} was expected in {self._text!r}")

    def _sum(self) -> Reading:
        first = self._negated(self._term()) if self._accept("-") else self._term()
        terms = [first]
        while sign := self._accept("+", "-"):
            terms.append(self._term() if sign == "+" else self._negated(self._term()))
        return lambda names: reduce(add, (term(names) for term in terms))

    def _negated(self, term: Reading) -> Reading:
        return lambda names: -term(names)

    def _term(self) -> Reading:
        steps = [("·", self._power())]
        while sign := self._accept("·", "/"):
            steps.append((sign, self._power()))

        def reading(names: Names) -> Any:
            value = self._number("1")
            for sign, factor in steps:
                value = value * factor(names) if sign == "·" else value / factor(names)
            return value

        return reading

    def _power(self) -> Reading:
        base = self._atom()
        if not self._accept("^"):
            return base
        exponent = self._atom()
        return lambda names: base(names) ** int(exponent(names))

    def _atom(self) -> Reading:
        kind, text = self._take()
        if kind == "digits":
            value = self._number(text)
            return lambda names: value
        if kind == "name":
            return self._call(text) if self._accept("(") else self._named(text)
        if text != "(":
            raise FormulaError(f"{text!r} is no value in {self._text!r}")
        inner = self._sum()
        self._expect(")")
        return inner

    def _named(self, name: str) -> Reading:
        def reading(names: Names) -> Any:
            if name not in names:
                raise FormulaError(f"{name!r} of {self._text!r} has no value")
            return names[name]

        return reading

    def _call(self, name: str) -> Reading:
        if name == "first":
            return self._first()
        first = self._sum()
        match name:
            case "floor" | "ceil":
                self._expect(")")
                rounded = floor if name == "floor" else ceil
                return lambda names: self._number(str(rounded(first(names))))
            case "min" | "max":
                chosen = min if name == "min" else max
                others = [first]
                while self._accept(","):
                    others.append(self._sum())
                self._expect(")")
                return lambda names: chosen(other(names) for other in others)
            case "sum":
                return self._series(first)
            case "tally":
                return self._tally(first)
        raise FormulaError(f"{name!r} is no function of {self._text!r}")

    def _series(self, body: Reading) -> Reading:
        for sign in (",", "t", "="):
            self._expect(sign)
        low = self._sum()
        self._expect("..")
        high = self._sum()
        self._expect(")")

        def reading(names: Names) -> Any:
            value = self._number("0")
            for t in range(int(low(names)), int(high(names)) + 1):
                value += body({**names, "t": self._number(str(t))})
            return value

        return reading

    def _first(self) -> Reading:
        _, bound = self._take()
        self._expect(":")
        a = self._sum()
        self._expect(">=")
        b = self._sum()
        self._expect(")")

        def reading(names: Names) -> Any:
            def holds(n: int) -> bool:
                at = {**names, bound: self._number(str(n))}
                return bool(a(at) >= b(at))

            return self._number(str(bisect_left(range(10**15), True, lo=1, key=holds)))

        return reading

    def _tally(self, length: Reading) -> Reading:
        self._expect(",")
        _, places = self._take()
        self._expect(")")
        return lambda names: self._number(
            str(sum(places[i % len(places)] == "1" for i in range(int(length(names)))))
        )
