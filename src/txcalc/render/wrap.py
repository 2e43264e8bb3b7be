"""Addresses and paths broken where they have joints, so that no word is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_JOINTS = (re.compile(r"(?<=[·./])"), re.compile(r"(?<=[_-])"))
"""Where a word is broken: between letters and names first, within one only if it is too long."""


def wrapped(text: str, width: int) -> str:
    """The text in lines of ``width``: broken at spaces, and inside longer words at their joints."""
    return "\n".join(line for part in text.split("\n") for line in _lines(part, width))


def _lines(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        gap = " " if lines[-1] else ""
        if len(lines[-1] + gap + word) <= width:
            lines[-1] += gap + word
        elif len(word) <= width:
            lines.append(word)
        else:
            lines += _pieces(word, width)
    return lines if lines[0] else lines[1:]


def _pieces(word: str, width: int) -> list[str]:
    pieces = [""]
    for part in _parts(word, width, _JOINTS):
        if pieces[-1] and len(pieces[-1] + part) > width:
            pieces.append("")
        pieces[-1] += part
    return pieces


def _parts(word: str, width: int, joints: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """The word in parts of at most ``width``, at the first joints that serve."""
    if len(word) <= width:
        yield word
    elif joints:
        for part in joints[0].split(word):
            yield from _parts(part, width, joints[1:])
    else:
        yield from (word[i : i + width] for i in range(0, len(word), width))
