"""A derivation at another value of a letter is the one that is made with that value."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exact.derivations import NAMES, Recipe, letter_values, letters, made, recipes
from txcalc.exact.moved import moved
from txcalc.exact.quantity import Letter, same_derivation
from txcalc.exact.solve import first, first_of


@settings(max_examples=10 * settings().max_examples)
@given(recipes(3), letter_values, st.integers(0, len(NAMES) - 1), st.integers(1, 12))
def test_it_is_what_that_value_makes(
    recipe: Recipe, values: tuple[int, ...], place: int, value: int
) -> None:
    chosen = letters(values)
    other = [*chosen]
    other[place] = Letter(value, NAMES[place])
    here = moved(made(recipe, chosen), lambda letter: letter is chosen[place], other[place])
    assert same_derivation(here, made(recipe, other))


def test_what_does_not_depend_on_the_letter_is_kept() -> None:
    n, width = Letter(3, "n"), Letter(5, "width")
    area, rest = n * width, width * width
    total = moved(area + rest, lambda letter: letter is n, Letter(4, "n"))
    assert total.value == 45
    assert total.args[1] is rest


@given(st.integers(1, 9), st.integers(1, 500))
def test_the_first_of_a_derivation_is_that_of_its_sides(width: int, need: int) -> None:
    n, size, least = Letter(7, "n"), Letter(width, "width"), Letter(need, "need")
    found = first_of("n", n * size, least)
    assert same_derivation(found, first("n", lambda n: (n * size, least)))
