"""Numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from sys import float_info

from txcalc.exact.quantity import Quantity, is_estimate

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E", "Z")
_LARGEST = Fraction(float_info.max)
_BELOW_ONE = ("", "m", "µ", "n")
COUNTED = ("FLOPs", "MACs")
"""Units that have a readable form beside their digits."""


def cell(quantity: Quantity, *, with_unit: bool = False) -> str:
    """A figure for a table: ``284,812,800``, ``9.00 GiB``, ``36.136197``."""
    value = quantity.value
    if quantity.unit == "bytes":
        return binary(value)
    if quantity.unit == "seconds":
        return duration(value)
    text = decimal(value)
    if not isinstance(value, int) and is_estimate(quantity):
        text = f"≈ {text}"
    return f"{text} {quantity.unit}".rstrip() if with_unit else text


def decimal(value: int | Fraction, places: int = 6) -> str:
    """An integer with its thousands apart, else at most so many decimals, or ``3.296e-395``."""
    if isinstance(value, int):
        return f"{value:,}"
    places = places if abs(value) >= Fraction(1, 1000) else 12
    if 0 < abs(value) * 10**places < 1:
        return _scientific(value, places // 2)
    whole, _, rest = f"{_rounded(value, places):,f}".partition(".")
    return f"{whole}.{rest.rstrip('0') or '0'}"


def binary(value: int | Fraction) -> str:
    """Bytes in the largest binary unit that they fill, three digits or more of it."""
    power = 0
    while power < len(_BINARY) - 1 and value >= 1024 ** (power + 1):
        power += 1
    if power == 0:
        return f"{decimal(value)} B"
    return f"{_rounded(Fraction(value, 1024**power), 2):,.2f} {_BINARY[power]}"


def duration(value: int | Fraction) -> str:
    """Seconds in the largest unit that they fill: ``21.05 ms``."""
    power = 0
    while power < len(_BELOW_ONE) - 1 and 0 < value * 1000**power < 1:
        power += 1
    return f"{_rounded(value * Fraction(1000**power), 2):,.2f} {_BELOW_ONE[power]}s"


def readable(quantity: Quantity) -> str:
    """The form beside the digits of a long figure: ``9.00 GiB``, ``1.209 PFLOPs``, or none."""
    if quantity.unit == "bytes":
        return binary(quantity.value)
    if quantity.unit not in COUNTED:
        return ""
    prefix, shown = in_thousands([quantity.value])
    return f"{shown[0]} {prefix}{quantity.unit}" if shown else ""


def in_thousands(values: Iterable[int | Fraction]) -> tuple[str, list[str]]:
    """The decimal prefix that the largest of some values fills, and each value in it.

    ``("G", ["1.235", "358.791"])``: one prefix for all, three decimals.  Below a thousand there is
    no prefix, and no value.
    """
    values = list(values)
    largest, power = max(values, default=0), 0
    while power < len(_DECIMAL) - 1 and largest >= 1000 ** (power + 1):
        power += 1
    shown = [f"{_rounded(Fraction(value, 1000**power), 3):,.3f}" for value in values]
    return _DECIMAL[power], shown if power else []


def scaled(values: Sequence[int | Fraction]) -> tuple[str, list[str]]:
    """The same of values that may be far below one: ``("m", ["1.860", "12.020"])``."""
    largest = max(map(Fraction, values), default=Fraction(0))
    power = 0
    while power < len(_BELOW_ONE) - 1 and 0 < largest * 1000**power < 1:
        power += 1
    prefix, shown = in_thousands(values)
    if not shown:
        prefix = _BELOW_ONE[power]
        shown = [f"{_rounded(value * Fraction(1000**power), 3):,.3f}" for value in values]
    return prefix, shown


def percent(share: Quantity, places: int = 1) -> str:
    """A share of a whole: ``66.7%``."""
    return f"{_rounded(Fraction(share.value) * 100, places):.{places}f}%"


def plain(value: int | Fraction, *, as_fraction: bool = False) -> str:
    """One number and nothing else: plain digits, the shortest decimal of its float, or n/d."""
    if isinstance(value, int):
        return str(value)
    return f"{value.numerator}/{value.denominator}" if as_fraction else shortest(value)


def shortest(value: Fraction) -> str:
    """The shortest decimal of a value's float, or 17 digits of what no float holds."""
    if abs(value) < _LARGEST and abs(number := float(value)) >= float_info.min:
        return repr(number)
    return _scientific(value, 17)


def _scientific(value: Fraction, digits: int) -> str:
    from decimal import Context, Decimal

    context = Context(prec=digits)
    number = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{number.normalize(context):e}"


def _rounded(value: Fraction | int, places: int) -> object:
    from decimal import ROUND_HALF_EVEN, Context, Decimal

    fraction = Fraction(value)
    digits = Context(prec=80 + fraction.numerator.bit_length() // 3, rounding=ROUND_HALF_EVEN)
    number = digits.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    return number.quantize(Decimal(1).scaleb(-places), context=digits)


_ASCII = str.maketrans({"·": "*", "≈": "~", "█": "#", "─": "-", "µ": "u"})


def in_ascii(text: str) -> str:
    """The characters that tables use, as a terminal without them shows them."""
    return text.translate(_ASCII)


_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """Text of a file on one line, as no terminal obeys it: the escapes of JSON for what is unseen.

    Controls, ends of lines, marks of direction, and halves of surrogate pairs are unseen.
    """
    return _UNPRINTABLE.sub(_escape, text)


def _escape(character: re.Match[str]) -> str:
    return _SHORT.get(character[0], f"\\u{ord(character[0]):04x}")


def printable_lines(text: str) -> str:
    """The same of a text of several lines, which stay lines."""
    return _UNPRINTABLE.sub(lambda c: c[0] if c[0] == "\n" else _escape(c), text)


_FORMULA = re.compile(r"[=@\uff1d\uff20]|[-+\uff0b\uff0d](?![0-9./]*$)")


def inert(text: str) -> str:
    """A cell of CSV that no spreadsheet runs: a formula begins with an apostrophe, which it shows.

    Numbers with a sign stay as they are.
    """
    text = printable(text)
    return f"'{text}" if _FORMULA.match(text) else text
