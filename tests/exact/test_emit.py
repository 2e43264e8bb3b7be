"""Compiled derivations: the same numbers at any letters, by code that names nothing of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exact.derivations import (
    NAMES,
    OPERATIONS,
    Recipe,
    letter_values,
    letters,
    made,
    recipes,
    recipes_of,
)
from txcalc.exact.emit import NAMESPACE, Compiler, compiled, variables
from txcalc.exact.quantity import Letter, Quantity, const, least, product


@given(recipes(3), st.permutations(NAMES), st.integers(0, len(NAMES)), letter_values, letter_values)
def test_some_letters_are_chosen_and_the_others_stay(
    recipe: Recipe, order: Sequence[str], count: int, here: tuple[int, ...], there: tuple[int, ...]
) -> None:
    chosen = order[:count]
    point = dict(zip(NAMES, there, strict=True))
    mixed = [point[name] if name in chosen else old for name, old in zip(NAMES, here, strict=True)]
    function = compiled(made(recipe, letters(here)), chosen)
    assert function(*(point[name] for name in chosen)) == made(recipe, letters(mixed)).value


@given(st.lists(recipes(), min_size=1, max_size=3), letter_values)
def test_one_compiler_serves_several_quantities(
    several: list[Recipe], values: tuple[int, ...]
) -> None:
    chosen = letters(values)
    compiler = Compiler(NAMES)
    point = dict(zip(variables(NAMES), values, strict=True))
    for recipe in several:
        quantity = made(recipe, chosen)
        code = compiler.code(quantity)
        assert eval(str(code), NAMESPACE | point) == quantity.value
        assert eval(f"ratio({code.above}, {code.below})", NAMESPACE | point) == quantity.value


@given(st.sampled_from(OPERATIONS).flatmap(recipes_of), letter_values)
def test_code_has_generated_identifiers_alone(recipe: Recipe, values: tuple[int, ...]) -> None:
    quantity = made(recipe, letters(values))
    words = set(re.findall(r"[^\W\d]\w*", str(Compiler(NAMES).code(quantity))))
    assert words <= {*variables(NAMES), *NAMESPACE} - {"__builtins__"}


@pytest.mark.parametrize("name", ["__import__('os')", "lambda", "a.b-c", "v1", "v0", "min", ""])
def test_any_name_of_a_letter_is_only_a_name(name: str) -> None:
    odd, other = Letter(3, name), Letter(5, "other")
    quantity = product(odd, odd) + least(odd, other)
    assert compiled(quantity, [name, "other"])(7, 2) == 51
    assert compiled(quantity, ["other", name])(2, 7) == 51


def test_code_of_a_constant_is_the_constant() -> None:
    assert compiled(const(7) / const(2), ())() == (const(7) / const(2)).value


@pytest.mark.parametrize(
    ("quantity", "divides"),
    [
        (Letter(4, "a") + const(1), True),
        (product(const(2), Letter(4, "a")) / const(2), True),
        (product(Letter(4, "a"), Letter(4, "a")) / Letter(4, "a"), True),
        (Letter(4, "a") / const(2), False),
        (const(1) / Letter(4, "a"), False),
    ],
)
def test_what_divides_whatever_the_letters_is_over_one(
    quantity: Quantity, *, divides: bool
) -> None:
    assert (Compiler(["a"]).code(quantity).below == "1") is divides
