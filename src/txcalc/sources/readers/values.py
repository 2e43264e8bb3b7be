"""The values of a config.json, each of the type that its reader needs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from txcalc.exact.quantity import LARGEST
from txcalc.sources.json import shown


class Keyed(int):
    """A size that remembers its key, for the legends of explanations."""

    key: str

    def __new__(cls, value: float, key: str) -> Keyed:
        """The whole number ``value``, read at ``key``."""
        made = super().__new__(cls, value)
        made.key = key
        return made


def size(value: Any, key: str) -> int:
    """A whole number from 1 on.  As the rest here, a ValueError says what is needed instead."""
    number = count(value, key)
    if number == 0:
        raise ValueError("0 is no size: a whole number from 1 on is needed")
    return number


def count(value: Any, key: str) -> int:
    """A whole number, zero included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"a whole number is needed, not {shown(value)}")
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"a whole number is needed, not {shown(value)}")
    if not 0 <= value <= LARGEST:
        raise ValueError(f"{shown(value)} is out of range: from 0 to 10^15")
    return Keyed(value, key)


def number(value: Any, _key: str) -> Fraction:
    """A finite number, exactly as its decimals say."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"a number is needed, not {shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a finite number is needed, not {value}")
    return Fraction(repr(value))


def flag(value: Any, _key: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"true or false is needed, not {shown(value)}")
    return value


def truth(value: Any, key: str) -> bool:
    """True or false, or 1 or 0."""
    return flag(bool(value) if value in (0, 1) else value, key)


def word(value: Any, _key: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"a string is needed, not {shown(value)}")
    return value
