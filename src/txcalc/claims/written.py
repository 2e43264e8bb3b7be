r"""A number as a document writes it: ``124M``, ``17.3 MFLOPs``, ``9 GiB``, ``66.7%``, ``1.24億``.

LaTeX writes ``124{,}439{,}808``, ``1\,024``, ``1.24 \times 10^{8}``, ``9~GiB`` and ``66.7\%``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import msgspec

from txcalc.claims.units import NAMES, scale_of
from txcalc.errors import TxcalcError
from txcalc.exact.quantity import Number
from txcalc.report.format import decimal

MAX_LENGTH = 200
_UNIT = "|".join(re.escape(name).replace("%", r"\\?%") for name in NAMES)
_SEPARATORS = (",", r"{,}", r"\,")
_WHOLE_PART = "|".join(rf"[0-9]{{1,3}}(?:{re.escape(s)}[0-9]{{3}})+" for s in _SEPARATORS)
_DIGITS = rf"(?:{_WHOLE_PART})(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_TIMES_TEN = r"\s?(?:[×x·*]|\\times|\\cdot)\s?10"
_POWER = (
    r"[eE][+-]?[0-9]{1,3}"
    rf"|{_TIMES_TEN}(?:(?:\^|\*\*)-?[0-9]{{1,3}}|\^\{{-?[0-9]{{1,3}}\}}|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}})"
)
_GAP = r"(?:\s|~|\\[, ])?"
_NUMBER = rf"(?:[0-9]+/[0-9]+|(?:{_DIGITS})(?:{_POWER})?)"
NUMBER = rf"[-−+]?{_NUMBER}(?:(?:{_GAP}(?:{_UNIT})){{1,2}}(?![0-9A-Za-z_/]))?"
"""A number and the unit that may follow it, as a regular expression."""

_WHOLE = re.compile(
    rf"(?P<sign>[-−+]?)(?:(?P<above>[0-9]+)/(?P<below>[0-9]+)"
    rf"|(?P<digits>{_DIGITS})(?P<power>{_POWER})?)(?P<unit>{_GAP}[^0-9\s].*)?"
)
_GROUPS = re.compile(r"[0-9]{1,3}(?:[.'’_ \u00a0\u202f][0-9]{3})+")
Rounding = Callable[[Fraction], int]


class WrittenError(TxcalcError):
    """A text that is no number, or a unit that does not fit."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """``mantissa`` times ``scale``, one unit in the last digit being ``step`` times ``scale``.

    ``step`` is 0 for a fraction, which is exact.
    """

    text: str
    mantissa: Fraction
    step: Fraction
    scale: Fraction

    @property
    def value(self) -> Fraction:
        """What the text says."""
        return self.mantissa * self.scale

    @property
    def last_digit(self) -> Fraction:
        """What one more in the last digit would add."""
        return self.step * self.scale


def read_number(text: str, counted: str) -> Written:
    """A written number next to a figure that counts ``counted``.

    Without bytes to count, ``B`` is a billion.

    Raises:
        WrittenError: no number, an unknown unit, or one that does not fit the figure.
    """
    match = _match(text)
    try:
        scale = scale_of(_unit(match["unit"] or ""), counted)
    except ValueError as error:
        raise WrittenError(f"{text!r}: {error}") from None
    sign = -1 if match["sign"] in ("-", "−") else 1
    if match["above"]:
        if int(match["below"]) == 0:
            raise WrittenError(f"{text!r} divides by zero")
        value = sign * Fraction(int(match["above"]), int(match["below"]))
        return Written(text=text, mantissa=value, step=Fraction(0), scale=scale)
    digits = _plain(match["digits"])
    return Written(
        text=text,
        mantissa=sign * Fraction(digits),
        step=Fraction(1, 10 ** len(digits.partition(".")[2])),
        scale=scale * Fraction(10) ** _exponent(match["power"] or ""),
    )


def restyled(written: Written, value: Fraction, rounding: Rounding = round) -> str:
    """Another value in the style of a written number: its unit, separators and digits."""
    match = _match(written.text)
    unit = match["unit"] or ""
    if match["above"]:
        scaled = value / written.scale
        below_line = f"/{scaled.denominator}" if scaled.denominator != 1 else ""
        return f"{scaled.numerator}{below_line}{unit}"
    whole, _, decimals = match["digits"].partition(".")
    power = match["power"] or ""
    scale = written.scale
    if power:
        places = len(_plain(whole))
        moved = _magnitude(_rounded(value / scale, places + len(decimals), rounding)) - places + 1
        scale *= Fraction(10) ** moved
        power = _moved(power, moved)
    last = rounding(value / scale * 10 ** len(decimals))
    head, tail = divmod(abs(last), 10 ** len(decimals))
    separator = next((s for s in reversed(_SEPARATORS) if s in whole), "")
    number = f"{head:,}".replace(",", separator)
    fraction = f".{tail:0{len(decimals)}d}" if decimals else ""
    sign = match["sign"] if (match["sign"] in ("-", "−")) == (last < 0) else "-" * (last < 0)
    return f"{sign}{number}{fraction}{power}{unit}"


def in_percent(written: Written, value: Number) -> str:
    """A value in percent, two decimals more than the number that is written so; else nothing."""
    if not written.text.rstrip().endswith(("%", "％")):
        return ""
    return f"{decimal(Fraction(value) * 100, len(str(written.step.denominator)) + 1)}%"


def below(value: Fraction) -> int:
    """The largest whole number under a value."""
    return ceil(value) - 1


def above(value: Fraction) -> int:
    """The smallest whole number over a value."""
    return floor(value) + 1


def towards_zero(value: Fraction) -> int:
    """What is left without the decimals."""
    return int(value)


def _match(text: str) -> re.Match[str]:
    match = _WHOLE.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise WrittenError(no_number(text))
    return match


def no_number(text: str) -> str:
    """What is wrong with a text that should have been a number, and what would be right."""
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    right = "as 124,439,808, 124M, 9.5 GiB or 66.7%"
    if _GROUPS.fullmatch(text):
        right = f"as {re.sub('[^0-9]', ',', text)}, with commas between thousands"
    return f"{shown!r} is no number that can be read; write it {right}"


def _plain(digits: str) -> str:
    return re.sub("[^0-9.]", "", digits)


def _unit(text: str) -> str:
    """A unit as its table has it."""
    return re.sub(r"~|\\[, ]", " ", text).replace(r"\%", "%").strip()


def _exponent(power: str) -> int:
    exponent = re.sub(rf"[eE]|{_TIMES_TEN}(?:\^|\*\*)?", "", power, count=1)
    return int(exponent.translate(_SUPERSCRIPTS).strip("{}") or 0)


def _moved(power: str, by: int) -> str:
    """A power of ten with another exponent, written alike."""
    exponent = str(_exponent(power) + by)
    digits = re.search(r"([+-]?[0-9]+|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)\}?$", power)
    old = digits[1] if digits else ""
    if not re.search("[0-9]", old):
        exponent = exponent.translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    elif old.startswith("+") and not exponent.startswith("-"):
        exponent = "+" + exponent.zfill(len(old) - 1)
    start, end = digits.span(1) if digits else (len(power), len(power))
    return power[:start] + exponent + power[end:]


def _rounded(value: Fraction, digits: int, rounding: Rounding) -> Fraction:
    """A value rounded to so many digits, which may be one power of ten more than it was."""
    last = Fraction(10) ** (_magnitude(value) - digits + 1)
    return rounding(value / last) * last


def _magnitude(value: Fraction) -> int:
    """The power of ten of the first digit."""
    if not value:
        return 0
    value = abs(value)
    power = len(str(value.numerator)) - len(str(value.denominator))
    return power if value >= Fraction(10) ** power else power - 1
