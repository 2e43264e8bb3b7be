"""Sums over a range, layers of a kind, experts that tokens reach: closed forms and their loops."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle, islice

from hypothesis import given
from hypothesis import strategies as st

from txcalc.exact.counting import distinct, series, tally
from txcalc.exact.quantity import ONE, const, is_estimate, total

small = st.integers(-20, 60)
counts = st.integers(1, 40)


@given(st.sampled_from((0, 1)), st.one_of(st.none(), counts), st.integers(1, 40), small)
def test_a_series_is_its_loop(power: int, cap: int | None, low: int, high: int) -> None:
    steps = range(low, high + 1)
    expected = sum(t**power * (t if cap is None else min(t, cap)) for t in steps)
    limit = None if cap is None else const(cap)
    assert series(const(power), limit, const(low), const(high)).value == expected


@given(st.integers(0, 60), st.lists(st.booleans(), min_size=1, max_size=9))
def test_a_tally_counts_places_of_a_repeated_pattern(n: int, pattern: list[bool]) -> None:
    assert tally(const(n), tuple(pattern)).value == sum(islice(cycle(pattern), n))


@given(st.integers(1, 12), st.data(), st.integers(1, 6))
def test_distinct_experts_are_their_expected_number(
    experts: int, data: st.DataObject, tokens: int
) -> None:
    top_k = data.draw(st.integers(1, experts))
    found = distinct(const(experts), const(top_k), const(tokens))
    expected = experts * (1 - (1 - Fraction(top_k, experts)) ** tokens)
    assert abs(found.value - expected) <= Fraction(1, 10**37)
    assert is_estimate(found)
    assert is_estimate(total((found, ONE), ""))
    assert top_k <= found.value <= experts


def test_one_token_reaches_exactly_its_own_experts() -> None:
    assert distinct(const(256), const(8), ONE).value == 8
    assert distinct(const(8), const(8), const(3)).value == 8
