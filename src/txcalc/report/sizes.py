"""Whole numbers as people write them: ``32768``, ``32,768``, ``32_768``, ``32Ki``."""

from __future__ import annotations

import re

from txcalc.errors import OptionError

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_DECIMAL = {"k": 3, "m": 6, "g": 9, "t": 12}
_DIGITS = r"0|[1-9][0-9]{0,99}|[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){1,30}|(?:_[0-9]{3}){1,30})"
_SIZE = re.compile(rf"(?P<digits>-?(?:{_DIGITS}))(?P<unit>{'|'.join(_BINARY)})?")
_AMBIGUOUS = re.compile(r"(?P<digits>[1-9][0-9]{0,5})(?P<unit>[kKmMgGtT])")


def is_size(text: str) -> bool:
    """Whether :func:`whole` reads a text."""
    return bool(_SIZE.fullmatch(text))


def whole(text: str) -> int:
    """The whole number that a text writes.

    Raises:
        OptionError: a text that writes none, or one with two readings (``32k``).
    """
    if size := _SIZE.fullmatch(text):
        digits = size["digits"].replace(",", "").replace("_", "")
        return int(digits) * _BINARY.get(size["unit"], 1)
    if twice := _AMBIGUOUS.fullmatch(text):
        count, letter = int(twice["digits"]), twice["unit"].lower()
        binary = f"{letter.upper()}i"
        raise OptionError(
            f"{text!r} has two readings: {count * 10 ** _DECIMAL[letter]:,}, or {count}{binary} = "
            f"{count * _BINARY[binary]:,}"
        )
    raise OptionError(
        f"{text[:40]!r} is no whole number: write it as 32768, 32,768, 32_768 or 32Ki"
    )
