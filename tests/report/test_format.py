"""Numbers as people read them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from txcalc.report.format import decimal


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(1, 30000), "0.000033333333"),
        (Fraction(-1, 30000), "-0.000033333333"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(1, 999), "0.001001"),
        (Fraction(1, 1001), "0.000999000999"),
        (Fraction(2, 3), "0.666667"),
        (Fraction(1, 10**7), "0.0000001"),
        (Fraction(215, 10**12), "0.000000000215"),
        (Fraction(3700000, 3), "1,233,333.333333"),
        (1234567, "1,234,567"),
    ],
)
def test_six_decimals_are_shown_and_of_what_is_below_a_thousandth_twelve(
    value: int | Fraction, shown: str
) -> None:
    assert decimal(value) == shown
