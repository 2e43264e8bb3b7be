"""The normal form for compiling: constants folded, products distributed, equal calls one atom."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import Any

import pytest
from hypothesis import given

from tests.exact.derivations import NAMES, Recipe, letter_values, letters, made, recipes
from txcalc.exact.counting import series
from txcalc.exact.polynomial import Call, First, Polynomial, Polynomials, Rational, Variable
from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity, const, defined, least, product
from txcalc.exact.search import least_true


class Evaluator:
    """A second reader of normal forms: exact fractions, atom by atom."""

    def __init__(self, polynomials: Polynomials, values: Mapping[str, int]) -> None:
        self._polynomials, self._values = polynomials, values

    def __call__(self, form: Rational) -> Any:
        value = self._sum(form.above) / self._sum(form.below)
        return value.numerator if value.denominator == 1 else value

    def _sum(self, polynomial: Polynomial) -> Fraction:
        terms = (c * prod(self._atom(a) ** p for a, p in m) for m, c in polynomial.items())
        return sum(terms, Fraction(0))

    def _atom(self, place: int) -> Any:
        match self._polynomials.atoms[place]:
            case Variable(name):
                return self._values[name]
            case Call(function, args):
                return function.value(*map(self, args))
            case First(bound, gap):
                name = self._polynomials.atoms[bound].name
                return least_true(lambda n: self._with(name, n)(gap) >= 0)

    def _with(self, name: str, n: int) -> Evaluator:
        return Evaluator(self._polynomials, {**self._values, name: n})


@given(recipes(3), letter_values, letter_values)
def test_a_normal_form_is_worth_its_quantity_at_any_letters(
    recipe: Recipe, here: tuple[int, ...], there: tuple[int, ...]
) -> None:
    polynomials = Polynomials(NAMES)
    form = polynomials.of(made(recipe, letters(here)))
    evaluate = Evaluator(polynomials, dict(zip(NAMES, there, strict=True)))
    assert evaluate(form) == made(recipe, letters(there)).value


@given(recipes(3), letter_values)
def test_without_chosen_letters_there_are_no_atoms(recipe: Recipe, values: tuple[int, ...]) -> None:
    quantity = made(recipe, letters(values))
    polynomials = Polynomials(())
    form = polynomials.of(quantity)
    assert Evaluator(polynomials, {})(form) == quantity.value
    assert polynomials.atoms == []
    assert set(form.above) <= {()}


A, B, C = (Letter(value, name) for name, value in (("a", 7), ("b", 3), ("c", 2)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (product(A + B, A - B), product(A, A) - product(B, B)),
        (product(A, B + C), product(B, A) + product(C, A)),
        (product(A, B) / A, B),
        ((A + B) / const(2), A / const(2) + B / const(2)),
        (product(A, const(2) / C), (A + A) / C),
        (A - A, ZERO),
        (product(least(A, B), least(A, B)) / least(A + ZERO, product(B, ONE)), least(A, B)),
        (series(ZERO, None, ONE, A + A), series(ZERO, None, ONE, product(const(2), A))),
        (defined("d", A + ONE), A + ONE),
    ],
)
def test_what_is_equal_in_all_letters_has_one_form(one: Quantity, other: Quantity) -> None:
    polynomials = Polynomials(("a", "b", "c"))
    assert polynomials.of(one) == polynomials.of(other)


def test_atoms_are_the_chosen_letters_and_each_call_once_after_its_operands() -> None:
    polynomials = Polynomials(("a", "b"))
    inner = least(A, B)
    polynomials.of(product(inner // C, inner // C) + least(A, B))
    first, second, least_, floor = polynomials.atoms
    assert (first, second) == (Variable("a"), Variable("b"))
    assert isinstance(least_, Call)
    assert isinstance(floor, Call)
    assert (str(least_.function), str(floor.function)) == ("min", "floor")
    assert floor.args == (polynomials.of(inner / C),)


def test_a_dimension_is_chosen_by_where_it_was_read() -> None:
    here, there = (Letter(5, "d_ff", f"blocks.{block}.d_ff") for block in ("x", "y"))
    polynomials = Polynomials(("d_ff",), {"blocks.x.d_ff": "d_ff"})
    assert polynomials.of(here + there) == polynomials.of(here + const(5))
    assert polynomials.of(here) != polynomials.of(there)
    assert polynomials.of(Letter(9, "d_ff")) == polynomials.of(here)
