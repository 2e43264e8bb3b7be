"""Exact numbers: arithmetic, units, and what is remembered of both."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exact.derivations import Recipe, letter_values, letters, made, recipes
from txcalc.errors import UnitError
from txcalc.exact.printing import substituted, symbolic
from txcalc.exact.quantity import (
    ONE,
    ZERO,
    Letter,
    Quantity,
    ceil_div,
    const,
    defined,
    exact,
    least,
    most,
    product,
    same_derivation,
    same_structure,
    total,
    walk,
)

counts = st.integers(1, 40)
numbers = st.one_of(st.integers(-(10**20), 10**20), st.fractions().map(exact))


@given(st.lists(numbers))
def test_a_total_is_the_sum(values: list[int | Fraction]) -> None:
    found = total(map(const, values), "")
    assert found.value == sum(values)
    assert isinstance(found.value, int) == (Fraction(sum(values)).denominator == 1)


@given(st.lists(numbers))
def test_a_product_multiplies(values: list[int | Fraction]) -> None:
    expected = Fraction(1)
    for value in values:
        expected *= value
    assert product(*map(const, values)).value == expected


@given(numbers, numbers)
def test_differences_quotients_and_extremes(a: int | Fraction, b: int | Fraction) -> None:
    left, right = const(a), const(b)
    assert (left - right).value == Fraction(a) - b
    assert least(left, right).value == min(a, b)
    assert most(left, right).value == max(a, b)
    if b:
        assert (left / right).value == Fraction(a) / b
        assert (left // right).value == Fraction(a) // b
        assert ceil_div(left, right).value == -(-Fraction(a) // b)


def test_equality_ignores_the_derivation() -> None:
    width, heads = Letter(768, "d_model"), Letter(12, "n_heads")
    assert width / heads == const(64)
    assert hash(width / heads) == hash(const(64))
    assert const(64, "bytes") != const(64)
    assert not same_derivation(width / heads, const(64))
    assert same_derivation(width / heads, Letter(768, "d_model") / Letter(12, "n_heads"))
    assert not same_derivation(width / heads, Letter(768, "d_ff") / Letter(12, "n_heads"))


def test_a_defined_letter_keeps_its_name_and_its_definition() -> None:
    head_dim = defined("head_dim", Letter(768, "d_model") / Letter(12, "n_heads"))
    assert (head_dim.value, head_dim.name) == (64, "head_dim")
    assert head_dim.definition is not None
    assert head_dim.definition.value == 64


@pytest.mark.parametrize(
    "combine",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        least,
        most,
        lambda a, b: total((a, b), "bytes"),
    ],
)
def test_unlike_units_do_not_combine(combine: object) -> None:
    with pytest.raises(UnitError):
        combine(const(1, "bytes"), const(1, "FLOPs"))  # type: ignore[operator]


def test_what_is_counted_over_its_rate_is_time() -> None:
    peak, bandwidth = Quantity(8, "FLOPs/second"), Quantity(2, "bytes/second")
    assert const(4, "FLOPs") / peak == Quantity(Fraction(1, 2), "seconds")
    assert peak / bandwidth == const(4, "FLOPs/byte")
    with pytest.raises(UnitError):
        _ = const(4, "FLOPs") / bandwidth


def test_units_cancel_and_divide() -> None:
    per_token = const(3, "bytes/token")
    assert product(per_token, const(4, "tokens")) == const(12, "bytes")
    assert const(12, "bytes") / const(4, "tokens") == per_token
    assert const(12, "bytes") / const(4, "bytes") == const(3)
    assert const(5).counted_as("tokens") == const(5, "tokens")
    with pytest.raises(UnitError):
        const(5, "bytes").counted_as("tokens")


@pytest.mark.parametrize(
    ("above", "below"), [("", "bytes"), ("bytes/token", "FLOPs"), ("bytes", "FLOPs/token")]
)
def test_no_unit_has_two_fractions_or_only_a_denominator(above: str, below: str) -> None:
    with pytest.raises(UnitError):
        const(1, above) / const(1, below)


def test_a_total_of_nothing_has_the_unit_it_was_asked_in() -> None:
    assert total((), "bytes") == const(0, "bytes")
    assert product() == ONE
    assert product(ZERO, const(7, "bytes")) == const(0, "bytes")


def test_zero_folds_away_only_where_it_is_a_constant() -> None:
    empty = Letter(0, "n_shared")
    assert product(empty, const(3)).value == 0
    assert total((empty, const(3)), "").value == 3


@given(counts)
def test_a_quantity_says_what_it_is(value: int) -> None:
    assert str(value) in repr(const(value, "bytes"))
    assert "bytes" in repr(Quantity(value, "bytes"))
    assert "n_heads" in repr(Letter(value, "n_heads"))
    assert repr(const(value) // const(2)).endswith("by floor>")


@given(recipes(), letter_values)
def test_counting_something_is_multiplying_by_one_of_it(
    recipe: Recipe, values: tuple[int, ...]
) -> None:
    quantity = made(recipe, letters(values))
    assert same_derivation(quantity.counted_as("bytes"), product(quantity, const(1, "bytes")))


@given(recipes(), recipes(), letter_values, letter_values)
def test_derivations_are_compared_by_operations_and_letters(
    one: Recipe, other: Recipe, here: tuple[int, ...], there: tuple[int, ...]
) -> None:
    quantity = made(one, letters(here))
    assert same_derivation(quantity, made(one, letters(here)))
    text = symbolic(quantity), substituted(quantity)
    for alike in (made(one, letters(there)), made(other, letters(here))):
        if same_derivation(quantity, alike):
            assert (symbolic(alike), substituted(alike)) == text


def test_a_walk_comes_to_every_node_once_operands_after_their_operation() -> None:
    width, heads = Letter(768, "d_model"), Letter(12, "n_heads")
    quotient = width / heads
    share = defined("share", quotient)
    root = product(share, width) + share
    first, times, *rest = walk(root)
    assert first is root
    assert times is root.args[0]
    assert [id(node) for node in rest] == [id(node) for node in (share, quotient, width, heads)]
    assert [id(node) for node in walk(root, [times, share])] == [id(root)]


def _area(
    width: int, *, more: int = 2, height: int = 5, unit: str = "", place: str = "a.width",
    name: str = "width", halved: bool = False,
) -> Quantity:  # fmt: skip
    letter = Letter(width, name, place)
    if halved:
        letter = defined(name, letter, place)
    other = Letter(height, "height", "a.height")
    area = product(letter, other) + const(more)
    return area.counted_as(unit) if unit else area


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (_area(3), True), (_area(7), True), (_area(7, more=3), False), (_area(7, height=6), False),
        (_area(7, unit="bytes"), False), (_area(7, place="b.width"), False),
        (_area(7, name="depth"), False), (_area(7, halved=True), False),
        (least(_area(7), const(2)), False), (const(17), False),
    ],
)  # fmt: skip
def test_structures_are_the_same_if_only_chosen_letters_differ(
    other: Quantity, alike: bool
) -> None:
    assert same_structure(_area(3), other, {"a.width": "width"}) is alike
    assert same_structure(other, _area(3), {"a.width": "width"}) is alike
    assert same_structure(_area(3), other, {}) is (other == _area(3) and alike)
