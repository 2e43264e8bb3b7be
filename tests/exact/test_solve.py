"""The least number at which a condition holds, against trying every number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txcalc.exact.emit import compiled
from txcalc.exact.printing import substituted, symbolic
from txcalc.exact.quantity import Letter, Quantity, const, least, product
from txcalc.exact.search import NeverError, least_true
from txcalc.exact.solve import first

SIZES = st.integers(1, 500)


@given(SIZES)
def test_bisection_finds_the_first(answer: int) -> None:
    asked = []

    def holds(n: int) -> bool:
        asked.append(n)
        return n >= answer

    assert least_true(holds) == answer
    assert len(asked) <= 2 * answer.bit_length() + 2


def test_what_never_holds_is_said() -> None:
    with pytest.raises(NeverError):
        least_true(lambda n: False)


def grows(width: Quantity, cap: Quantity | None, need: Quantity) -> Quantity:
    def sides(n: Letter) -> tuple[Quantity, Quantity]:
        return product(width, n if cap is None else least(n, cap)), need

    return first("n", sides)


@given(SIZES, SIZES)
def test_the_condition_holds_at_the_number_and_not_before(width: int, need: int) -> None:
    found = grows(const(width), None, const(need)).value
    assert width * found >= need
    assert found == 1 or width * (found - 1) < need


@given(SIZES, st.integers(1, 40), SIZES)
def test_a_cap_is_reached_or_never(width: int, cap: int, need: int) -> None:
    sizes = const(width), const(cap), const(need)
    if width * cap < need:
        with pytest.raises(NeverError):
            grows(*sizes)
    else:
        assert grows(*sizes).value == -(-need // width)


@given(SIZES, SIZES, SIZES)
def test_compiled_it_follows_its_other_letters(width: int, need: int, other: int) -> None:
    wide, needed = Letter(width, "width"), Letter(need, "need")
    found = grows(wide, None, needed)
    assert compiled(found, ["need"])(other) == grows(wide, None, const(other)).value
    assert compiled(found + found, ["width"])(other) == 2 * grows(const(other), None, needed).value
    assert compiled(found, [])() == found.value


def test_it_is_explained_by_its_condition() -> None:
    found = grows(Letter(3, "width"), None, Letter(100, "need"))
    assert symbolic(found) == "first(n: width·n >= need)"
    assert substituted(found) == "first(n: 3·n >= 100)"
