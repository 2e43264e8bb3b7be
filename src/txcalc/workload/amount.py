"""Amounts as budgets write them: ``26B`` tokens, ``5.76e23`` FLOPs, ``1.5`` days, exactly."""

from __future__ import annotations

import re
from fractions import Fraction

from txcalc.errors import OptionError

_SCALES = {"K": 3, "M": 6, "B": 9, "T": 12}
_AMOUNT = re.compile(
    r"(?P<digits>[0-9]{1,40}(?:\.[0-9]{1,20})?)(?:e\+?(?P<power>[0-9]{1,2})|(?P<scale>[KMBT]))?",
    re.ASCII,
)


def amount(option: str, text: str) -> Fraction:
    """The positive number that a text writes; K, M, B and T are powers of ten.

    Raises:
        OptionError: a text that writes none.
    """
    read = _AMOUNT.fullmatch(text.replace(",", "").replace("_", ""))
    value = Fraction(0)
    if read is not None:
        power = int(read["power"] or 0) + _SCALES.get(read["scale"], 0)
        value = Fraction(read["digits"]) * 10**power
    if not value:
        raise OptionError(
            f"--{option} {text[:40]}: an amount above 0 is needed, as 26B, 5.76e23 or 1.5"
        )
    return value


def whole_amount(option: str, text: str) -> int:
    """The same of what is counted whole.

    Raises:
        OptionError: a text that writes no whole number.
    """
    value = amount(option, text)
    if value.denominator != 1:
        raise OptionError(f"--{option} {text[:40]}: a whole number is needed")
    return value.numerator
