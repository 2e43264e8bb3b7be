"""Addresses and paths broken where they have joints, so that no word is."""

from __future__ import annotations

import re

_JOINT = re.compile(r"(?<=[·._/-])")


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
    for part in _JOINT.split(word):
        if pieces[-1] and len(pieces[-1] + part) > width:
            pieces.append("")
        pieces[-1] += part
    return pieces
