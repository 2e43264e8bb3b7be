"""The table of operations: of each, value, formula and Python say the same."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exact.derivations import (
    NAMES,
    OPERATIONS,
    check_print,
    letter_values,
    letters,
    made,
    recipes_of,
)
from txcalc.exact.emit import compiled
from txcalc.exact.operations import FUNCTIONS, Function


@pytest.mark.parametrize("operation", OPERATIONS)
@given(st.data(), letter_values, letter_values)
def test_value_formula_and_python_agree(
    operation: str, data: st.DataObject, here: tuple[int, ...], there: tuple[int, ...]
) -> None:
    recipe = data.draw(recipes_of(operation))
    quantity = made(recipe, letters(here))
    check_print(quantity)
    function = compiled(quantity, NAMES)
    for point in (here, there):
        value = made(recipe, letters(point)).value
        assert function(*point) == value
        assert (
            type(function(*point)) is type(value) is (int if value.denominator == 1 else Fraction)
        )


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_a_copy_of_a_function_is_the_row_of_the_table(function: Function) -> None:
    for again in (copy.deepcopy(function), pickle.loads(pickle.dumps(function))):
        assert again is function


def test_each_function_has_a_name_of_its_own() -> None:
    assert len({function.name for function in FUNCTIONS}) == len(FUNCTIONS)
