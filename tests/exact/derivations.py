"""Random derivations of every operation, as recipes that can be made with any letters.

A recipe is a leaf, ``("letter", place)`` or ``("const", value)``, or an operation before the
recipes of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from operator import add, floordiv, truediv
from typing import Any, get_args

from hypothesis import strategies as st

from tests.support.reckoning import estimate, reckon
from txcalc.exact.counting import distinct, series, tally
from txcalc.exact.operations import FUNCTIONS, Arithmetic
from txcalc.exact.printing import Printer, substituted, symbolic
from txcalc.exact.quantity import (
    Letter,
    Quantity,
    ceil_div,
    const,
    defined,
    exact,
    is_estimate,
    least,
    most,
    product,
    walk,
)
from txcalc.exact.solve import first

Recipe = tuple[Any, ...]
Recipes = st.SearchStrategy[Recipe]

NAMES = ("width", "heads", "tokens")
LEAVES = ("const", "letter")
OPERATIONS = [
    *(name for name in get_args(Arithmetic) if name not in LEAVES),
    *(function.name for function in FUNCTIONS),
]
MAKERS: dict[str, Callable[..., Quantity]] = {
    "sum": add,
    "product": product,
    "quotient": truediv,
    "floor": floordiv,
    "ceil": ceil_div,
    "min": least,
    "max": most,
    "series": lambda power, low, high, cap=None: series(power, cap, low, high),
    "tally": lambda n, *places: tally(n, tuple(place.value == 1 for place in places)),
    "distinct": lambda experts, share, tokens: distinct(experts, experts / share, tokens),
    "first": lambda width, need: first("n", lambda n: (product(width, n), need)),
    "defined": lambda definition: defined("share", definition),
}

letter_values = st.tuples(*(st.integers(1, 12) for _ in NAMES))
_numbers = st.one_of(st.integers(-9, 9), st.fractions(-9, 9, max_denominator=9).map(exact))


def _const(values: st.SearchStrategy[Any]) -> Recipes:
    return st.tuples(st.just("const"), values)


_letter = st.tuples(st.just("letter"), st.integers(0, len(NAMES) - 1))
_bit = _const(st.integers(0, 1))


def _made(operation: str, *operands: Recipes) -> Recipes:
    return st.tuples(st.just(operation), *operands)


@cache
def _counts(least_: int) -> Recipes:
    """Small whole numbers from ``least_``, 0 or 1, up."""
    small = st.one_of(_letter, _const(st.integers(least_, 9)))
    return st.one_of(small, *(_made(name, small, _letter) for name in ("sum", "product", "max")))


@cache
def _divisors() -> Recipes:
    """What is never zero, whatever the letters are."""
    signs = _const(st.sampled_from((-3, -1, 1, 2, Fraction(2, 3), Fraction(-1, 2))))
    return st.one_of(signs, _counts(1), _made("product", signs, _counts(1)))


@cache
def recipes_of(operation: str, depth: int = 2) -> Recipes:
    """Recipes whose last step is one operation."""
    match operation:
        case "sum" | "product" | "min" | "max":
            return _made(operation, recipes(depth - 1), recipes(depth - 1))
        case "quotient" | "floor" | "ceil":
            return _made(operation, recipes(depth - 1), _divisors())
        case "series":
            capless = _made(operation, _bit, _counts(0), _counts(0))
            return st.one_of(capless, _made(operation, _bit, _counts(1), _counts(0), _counts(0)))
        case "tally":
            patterns = st.integers(1, 5).map(lambda n: (_bit,) * n)
            return patterns.flatmap(lambda places: _made(operation, _counts(0), *places))
        case "distinct":
            return _made(operation, _counts(1), _counts(1), _counts(1))
        case "first":
            return _made(operation, _counts(1), recipes(depth - 1))
        case "defined":
            return _made(operation, recipes(depth - 1))
    raise NotImplementedError(f"no derivations are drawn of {operation}")


@cache
def recipes(depth: int = 2) -> Recipes:
    """Recipes of any operations but the estimate, whose print is not exact."""
    leaves = st.one_of(_letter, _const(_numbers))
    if not depth:
        return leaves
    exact_ = [name for name in (*OPERATIONS, "defined") if name != "distinct"]
    return st.one_of(leaves, *(recipes_of(name, depth) for name in exact_))


def letters(values: Iterable[int]) -> list[Letter]:
    """The letters of :data:`NAMES` with values."""
    return [Letter(value, name) for name, value in zip(NAMES, values, strict=True)]


def made(recipe: Recipe, chosen: Sequence[Quantity]) -> Quantity:
    """The quantity of a recipe; equal operands are one node, as in a real account."""
    nodes: dict[Recipe, Quantity] = {}

    def node(step: Recipe) -> Quantity:
        if step not in nodes:
            nodes[step] = new(*step)
        return nodes[step]

    def new(operation: str, *rest: Any) -> Quantity:
        match operation:
            case "letter":
                return chosen[rest[0]]
            case "const":
                return const(rest[0])
            case _:
                return MAKERS[operation](*map(node, rest))

    return node(recipe)


def named_values(quantity: Quantity) -> dict[str, Fraction]:
    """What each name in a formula is worth; a name that means several values has none."""
    names = Printer(quantity).names
    values: dict[str, set[Fraction]] = {}
    for node in walk(quantity):
        if isinstance(node, Letter):
            values.setdefault(names[id(node)], set()).add(Fraction(node.value))
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1}


CLOSE = Fraction(1, 10**36)


def check_print(quantity: Quantity, address: str = "") -> None:
    """Both readings of a quantity, read again by another reader, are worth its value."""
    for text, known in (
        (substituted(quantity), None),
        (symbolic(quantity), named_values(quantity)),
    ):
        if is_estimate(quantity):
            off = abs(estimate(text, known) - quantity.value)
            assert off <= abs(quantity.value) * CLOSE, f"{address}: {text}"
        else:
            assert reckon(text, known) == quantity.value, f"{address}: {text}"
