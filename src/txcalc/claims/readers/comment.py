"""A comment of a page, as every reader finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from txcalc.errors import TxcalcError

WORD = r"(?P<word>(?i:txcalc)(?:\s*[:：]|(?=\s)))"
"""How a comment begins that is a claim, or was meant to be one."""

NEVER_CLOSED = "the comment is never closed"
_LINE_END = re.compile(r"\r\n?|\n")


class PageError(TxcalcError):
    """A page that its format does not allow, or that is too large."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """Where a comment stands, the word it opens with, what it says, and what it follows.

    ``before`` is the text of the block before it as a reader sees it, back to the last comment;
    ``fault`` is what is wrong with the comment itself.  ``start`` counts the characters of
    ``source``; where the file has these elsewhere, ``offsets`` are their places in it.
    """

    source: str
    start: int
    word: str
    body: str = ""
    before: str = ""
    fault: str = ""
    offsets: Sequence[int] = ()

    def in_file(self, position: int) -> int:
        """The place in the file of a position in ``source``."""
        return self.offsets[position] if self.offsets else position


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Where each line of a text starts, and the line without its end."""
    start = 0
    for end in _LINE_END.finditer(text):
        yield start, text[start : end.start()]
        start = end.end()
    yield start, text[start:]


def line_starts(text: str) -> list[int]:
    """Where each line of a text starts."""
    return [0, *(end.end() for end in _LINE_END.finditer(text))]
