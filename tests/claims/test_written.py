"""Numbers as documents write them: what each is worth, when it holds, and how it is refreshed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txcalc.claims.checking import holds
from txcalc.claims.claim import Claim
from txcalc.claims.written import WrittenError, above, below, read_number, restyled
from txcalc.errors import OptionError


def claim(value: str, relation: str = "rounds", tolerance: str = "") -> Claim:
    return Claim(
        id="c", model="toy", claim="x", value=value, relation=relation,  # type: ignore[arg-type]
        tolerance=tolerance, because="about" if tolerance else "",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "counted", "value"),
    [
        ("124,439,808", "parameters", 124439808), ("124M", "parameters", 124 * 10**6),
        ("17.3 MFLOPs", "FLOPs", 17_300_000), ("9 GiB", "bytes", 9 * 2**30),
        ("9 GB", "bytes", 9 * 10**9), ("800 KiB", "bytes", 800 * 1024),
        ("70.272 kB", "bytes", 70272),
        ("66.7%", "", Fraction(667, 1000)), ("1.05 million", "parameters", 1_050_000),
        ("3.14e23", "FLOPs", 314 * 10**21), ("2.60E+00", "", Fraction(26, 10)),
        ("3.14 × 10^23", "FLOPs", 314 * 10**21), ("3.14×10²³", "FLOPs", 314 * 10**21),
        ("2/3", "", Fraction(2, 3)), ("1.24億", "parameters", 124 * 10**6),
        ("1.24亿", "parameters", 124 * 10**6), ("12444万", "parameters", 124440000),
        ("1.75兆", "FLOPs", 1750 * 10**9), ("1.24億FLOPs", "FLOPs", 124 * 10**6),
        ("175B", "parameters", 175 * 10**9), ("175B parameters", "parameters", 175 * 10**9),
        ("12 B", "bytes", 12), ("1.5 billion parameters", "parameters", 15 * 10**8),
        ("5x", "", 5), ("16 FLOPs/byte", "FLOPs/byte", 16), ("-3", "", -3), ("−3", "", -3),
    ],
)  # fmt: skip
def test_what_a_number_is_worth(text: str, counted: str, value: Fraction) -> None:
    assert read_number(text, counted).value == value


@pytest.mark.parametrize(
    ("text", "counted", "said"),
    [
        ("9 GiB", "parameters", "counts bytes"), ("9 FLOPs", "MACs", "counts FLOPs"),
        ("5%", "bytes", "a share"), ("12 parsecs", "", "unknown unit 'parsecs'"),
        ("9 GiBs", "bytes", "did you mean 'GiB'"), ("9 kiB", "bytes", "did you mean 'KiB'"),
        ("many", "", "no number"), ("", "", "no number"),
        ("1/0", "", "divides by zero"), ("1" * 5000, "", "no number"), ("１２", "", "no number"),
        ("1.2.3", "", "unknown unit"), ("1,23", "", "unknown unit"),
    ],
)  # fmt: skip
def test_what_is_no_number_or_does_not_fit(text: str, counted: str, said: str) -> None:
    with pytest.raises(WrittenError, match=said.replace("(", r"\(")):
        read_number(text, counted)


@pytest.mark.parametrize(
    ("text", "value", "agrees"),
    [
        ("124M", 124_499_999, True), ("124M", 123_500_000, True), ("124M", 124_500_000, True),
        ("125M", 124_500_000, True), ("124M", 124_500_001, False), ("124.0M", 124_439_808, False),
        ("124.4M", 124_439_808, True), ("120M", 124_439_808, False), ("2.50", Fraction(5, 2), True),
        ("2.50", Fraction(2506, 1000), False), ("2/3", Fraction(2, 3), True),
        ("2/3", Fraction(6666667, 10**7), False), ("124439808", 124439808, True),
        ("124439808", Fraction(248879617, 2), True), ("124439809", 124439808, False),
    ],
)  # fmt: skip
def test_rounds(text: str, value: Fraction, agrees: bool) -> None:
    assert holds(claim(text), read_number(text, ""), Fraction(value)) is agrees


@pytest.mark.parametrize(
    ("relation", "text", "value", "agrees"),
    [
        ("truncates", "36", Fraction(3699, 100), True), ("truncates", "36", 37, False),
        ("truncates", "36", 36, True), ("truncates", "36", Fraction(3599, 100), False),
        ("truncates", "-1.5", Fraction(-159, 100), True),
        ("truncates", "1/3", Fraction(1, 3), True),
        ("over", "10x", Fraction(105, 10), True), ("over", "10x", 10, False),
        ("under", "0.2%", Fraction(195, 10**5), True), ("under", "0.2%", Fraction(2, 1000), False),
    ],
)  # fmt: skip
def test_other_relations(relation: str, text: str, value: Fraction, agrees: bool) -> None:
    assert holds(claim(text, relation), read_number(text, ""), Fraction(value)) is agrees


def test_within() -> None:
    assert holds(claim("3x", "within", "2%"), read_number("3x", ""), Fraction(305, 100))
    assert not holds(claim("3x", "within", "1%"), read_number("3x", ""), Fraction(305, 100))
    edge = claim("4", "within", "25%")
    assert holds(edge, read_number("4", ""), Fraction(5))
    assert holds(edge, read_number("4", ""), Fraction(3))
    assert not holds(edge, read_number("4", ""), Fraction(5001, 1000))
    assert not holds(edge, read_number("4", ""), Fraction(2999, 1000))
    for share in ("0%", "100%", "1.5"):
        with pytest.raises(OptionError, match="a share of the number"):
            holds(claim("4", "within", share), read_number("4", ""), Fraction(4))


@pytest.mark.parametrize(
    ("text", "counted", "value", "fresh"),
    [
        ("124M", "parameters", 379_603_200, "380M"),
        ("124.0M", "parameters", 379_603_200, "379.6M"),
        ("9 GiB", "bytes", 18 * 2**30, "18 GiB"), ("124,439,808", "parameters", 1000, "1,000"),
        ("124439808", "parameters", 379603200, "379603200"),
        ("66.7%", "", Fraction(1, 2), "50.0%"),
        ("1.05 million", "parameters", 2_097_152, "2.10 million"),
        ("2/3", "", Fraction(1, 2), "1/2"),
        ("3.14e23", "FLOPs", 628 * 10**22, "6.28e24"), ("2.60E+00", "", 26, "2.60E+01"),
        ("3.14×10²³", "FLOPs", 628 * 10**22, "6.28×10²⁴"), ("1.24億", "", 379603200, "3.80億"),
        ("−3", "", -4, "−4"), ("3", "", -4, "-4"), ("+3", "", 4, "+4"), ("+3", "", -4, "-4"),
        ("-3", "", 4, "4"), ("9.99e2", "", Fraction(9999, 10), "1.00e3"), ("8.5e2", "", 0, "0.0e2"),
    ],
)  # fmt: skip
def test_a_fresh_number_keeps_its_style(
    text: str, counted: str, value: Fraction, fresh: str
) -> None:
    assert restyled(read_number(text, counted), Fraction(value)) == fresh


@given(
    st.fractions(min_value=-(10**30), max_value=10**30),
    st.sampled_from(("124M", "1.05 million", "17.3", "9 GiB", "2/3", "66.7%", "3.14e23", "1,234")),
)
def test_what_is_written_holds_when_read_again(value: Fraction, style: str) -> None:
    counted = "bytes" if "iB" in style else ""
    fresh = restyled(read_number(style, counted), value)
    assert holds(claim(fresh), read_number(fresh, counted), value)
    assert restyled(read_number(fresh, counted), value) == fresh
    for relation, rounding in (("over", below), ("under", above)):
        if "/" not in style:
            bound = restyled(read_number(style, counted), value, rounding)
            assert holds(claim(bound, relation), read_number(bound, counted), value)
