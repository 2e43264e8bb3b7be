"""Numbers as people read them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txcalc.exact.quantity import const
from txcalc.report.format import decimal, in_thousands, printable, readable


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


@pytest.mark.parametrize(
    ("values", "prefix", "shown"),
    [
        ([0, 999], "", []),
        ([1000, 1], "k", ["1.000", "0.001"]),
        ([1_209_462_790_553_600, 10**12], "P", ["1.209", "0.001"]),
        ([Fraction(10**7, 3)], "M", ["3.333"]),
        ([3 * 10**25], "Z", ["30,000.000"]),
        ([], "", []),
    ],
)
def test_the_largest_value_of_a_column_chooses_the_prefix_of_all(
    values: list[int | Fraction], prefix: str, shown: list[str]
) -> None:
    assert in_thousands(values) == (prefix, shown)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1_209_462_790_553_600, "FLOPs", "1.209 PFLOPs"),
        (604_731_395_276_800, "MACs", "604.731 TMACs"),
        (999, "FLOPs", ""),
        (9_663_676_416, "bytes", "9.00 GiB"),
        (9_663_676_416, "parameters", ""),
    ],
)
def test_flops_and_bytes_have_a_form_beside_their_digits(value: int, unit: str, shown: str) -> None:
    assert readable(const(value, unit)) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(10**96, 7), f"{10**96 // 7:,}.142857"), (Fraction(-(10**96), 7), None),
        (Fraction(1, 3 * 10**96), "3.33333e-97"), (Fraction(-1, 3 * 10**96), None),
    ],
)  # fmt: skip
def test_a_fraction_of_any_size_is_shown(value: Fraction, shown: str | None) -> None:
    assert decimal(value) == (shown or f"-{decimal(-value)}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("124M ≈ 億 é\u00a0\u3000", None), ("a\r\n\tb", r"a\r\n\tb"), ("\x1b[31m", r"\u001b[31m"),
        ("\x00\x7f\x9b", r"\u0000\u007f\u009b"), ("\u2028\u202e\ufeff", r"\u2028\u202e\ufeff"),
        ("\ud800", r"\ud800"), ("", None), ("\\n", None),
    ],
)  # fmt: skip
def test_what_is_unseen_is_printed_as_its_escape(text: str, shown: str | None) -> None:
    assert printable(text) == (text if shown is None else shown)


@given(st.text())
def test_a_printable_text_has_one_line_and_is_printed_as_itself(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown
