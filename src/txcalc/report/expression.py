"""Arithmetic over addresses: ``params.block.ffn.matmul / params.block.matmul``.

Sums, differences, products and quotients of addresses and plain numbers, with parentheses.
``n(...)`` is the bare number of what stands in it: ``6*n(params.total)`` counts nothing, so it can
be added to any other pure number. ``-`` between two addresses needs spaces around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import NoReturn

from txcalc.errors import TxcalcError, UnitError
from txcalc.exact.quantity import Letter, Quantity, const, exact, product, walk

MAX_LENGTH = 2000
MAX_DEPTH = 50
MAX_VALUE = 10**90
MAX_BITS = 4000
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)"
    r"|(?P<bare>n)(?=\s*\()"
    r"|(?P<address>[A-Za-z][A-Za-z0-9_.]*(?:-[A-Za-z0-9_.]+)*)|(?P<operator>[-+*/()]))"
)

Lookup = Callable[[str], Quantity]
_Token = tuple[str, str]
"""The kind and the text of a piece of an expression."""


class ExpressionError(TxcalcError):
    """An expression that cannot be read or computed."""


def addresses(text: str) -> list[str]:
    """The addresses in an expression, in their order.

    Raises:
        ExpressionError: a text that cannot be read, or is too long.
    """
    return [token for kind, token in _tokens(text) if kind == "address"]


def evaluate(text: str, lookup: Lookup) -> Quantity:
    """The quantity that an expression means.

    Raises:
        ExpressionError: a text that is no expression, too long or too deep; a division by zero.
        TxcalcError: whatever an address is refused for.
    """
    return _Parser(text, lookup).whole()


def _tokens(text: str) -> list[_Token]:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression of {len(text):,} characters; at most {MAX_LENGTH:,}")
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            _refuse(text, f"{text[at:].lstrip()[:12]!r} cannot be read")
        kind = match.lastgroup or ""
        tokens.append((kind, match[kind]))
        at = match.end()
    return tokens


def _refuse(text: str, message: str) -> NoReturn:
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    raise ExpressionError(f"{shown!r}: {message}")


def _bare(quantity: Quantity) -> Quantity:
    """The same number, which counts nothing."""
    return Quantity(quantity.value, "", "product", (quantity,))


def _counted_alike(a: Quantity, b: Quantity) -> tuple[Quantity, Quantity]:
    """Two terms, where plain numbers count what the other does."""
    if _is_plain(a):
        return a.counted_as(b.unit), b
    return (a, b.counted_as(a.unit)) if _is_plain(b) else (a, b)


def _is_plain(quantity: Quantity) -> bool:
    return not quantity.unit and not any(isinstance(node, Letter) for node in walk(quantity))


class _Parser:
    """Sums of products of numbers, addresses and parentheses."""

    def __init__(self, text: str, lookup: Lookup) -> None:
        self._text = text
        self._lookup = lookup
        self._tokens = _tokens(text)
        self._depth = 0

    def whole(self) -> Quantity:
        """The value of all of it."""
        value = self._sum()
        if self._tokens:
            self._refuse(f"{self._tokens[0][1]!r} is not expected there")
        if (
            not -MAX_VALUE < value.value < MAX_VALUE
            or value.value.denominator.bit_length() > MAX_BITS
        ):
            self._refuse("its value is out of range")
        return value

    def _sum(self) -> Quantity:
        value = self._product()
        while operator := self._operator("+-"):
            other = self._product()
            value, other = _counted_alike(value, other)
            value = self._do(lambda a, b: a + b if operator == "+" else a - b, value, other)
        return value

    def _product(self) -> Quantity:
        value = self._factor()
        while operator := self._operator("*/"):
            other = self._factor()
            if operator == "/" and not other.value:
                self._refuse("division by zero")
            value = self._do(lambda a, b: a * b if operator == "*" else a / b, value, other)
        return value

    def _factor(self) -> Quantity:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"nested more than {MAX_DEPTH} deep")
        value = self._atom()
        self._depth -= 1
        return value

    def _atom(self) -> Quantity:
        if self._operator("-"):
            return product(const(-1), self._factor())
        if self._operator("("):
            return self._closed()
        if not self._tokens:
            self._refuse("it ends too early")
        kind, text = self._tokens.pop(0)
        match kind:
            case "number":
                return const(exact(Fraction(text)))
            case "bare":
                self._operator("(")
                return _bare(self._closed())
            case "address":
                return self._lookup(text)
            case _:
                self._refuse(f"{text!r} is not expected there")

    def _closed(self) -> Quantity:
        """A sum up to its parenthesis."""
        value = self._sum()
        if not self._operator(")"):
            self._refuse("a ')' is missing")
        return value

    def _operator(self, operators: str) -> str:
        if self._tokens and self._tokens[0][0] == "operator" and self._tokens[0][1] in operators:
            return self._tokens.pop(0)[1]
        return ""

    def _do(
        self, operation: Callable[[Quantity, Quantity], Quantity], a: Quantity, b: Quantity
    ) -> Quantity:
        try:
            return operation(a, b)
        except UnitError as error:
            self._refuse(f"{error}; n(...) is the bare number of a figure")

    def _refuse(self, message: str) -> NoReturn:
        _refuse(self._text, message)
