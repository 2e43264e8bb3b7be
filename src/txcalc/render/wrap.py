"""Text broken where it has joints, so that no word and no number is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

_SPACES = re.compile(r"(?<!\(x) ")
"""Between words; ``(x 12)``, a count of layers, is one."""
_NAMES = re.compile(r"(?<=[·/])|(?<=\.)(?!\d)")
_WORDS = re.compile(r"(?<=[_-])")
_THOUSANDS = re.compile(r"(?<=,)")
_JOINTS = (_NAMES, _WORDS, _THOUSANDS)
"""Where a word is broken: between letters and names first, within one only if it is too long."""


def wrapped(text: str, width: int) -> str:
    """The text in lines of ``width``: broken at spaces, and inside longer words at their joints.

    Further lines are indented as the first.
    """
    return "\n".join(line for part in text.split("\n") for line in _lines(part, width))


def least(text: str) -> int:
    """The least width that breaks the text at spaces and joints alone, and no number."""
    return max(_least(part) for part in text.split("\n"))


def _least(part: str) -> int:
    words = part.lstrip(" ")
    pieces = (
        piece for word in _SPACES.split(words) for name in _NAMES.split(word)
        for piece in _WORDS.split(name)
    )  # fmt: skip
    return len(part) - len(words) + max(map(cell_len, pieces))


def _lines(part: str, width: int) -> list[str]:
    if cell_len(part) <= width:
        return [part]
    words = part.lstrip(" ")
    indent = part[: len(part) - len(words)]
    width = max(1, width - len(indent))
    lines = [""]
    for word in _SPACES.split(words):
        gap = " " if lines[-1] else ""
        if cell_len(lines[-1] + gap + word) <= width:
            lines[-1] += gap + word
        elif cell_len(word) <= width:
            lines.append(word)
        else:
            lines += _pieces(word, width)
    return [indent + line for line in (lines if lines[0] else lines[1:] or lines)]


def _pieces(word: str, width: int) -> list[str]:
    pieces = [""]
    for part in _parts(word, width, _JOINTS):
        if pieces[-1] and cell_len(pieces[-1] + part) > width:
            pieces.append("")
        pieces[-1] += part
    return pieces


def _parts(word: str, width: int, joints: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """The word in parts of at most ``width``, at the first joints that serve."""
    if cell_len(word) <= width:
        yield word
    elif joints:
        for part in joints[0].split(word):
            yield from _parts(part, width, joints[1:])
    else:
        yield from chop_cells(word, width)
