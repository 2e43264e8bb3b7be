"""What a table is before anything draws it: a titled grid of text, with notes and bars below."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import msgspec
from rich.cells import cell_len

PAGE = 80
"""Characters of a line where no terminal says how many."""
_LONGEST, _AROUND = 40, 5
"""Characters of the longest bar, and those around a bar, its label and its value."""


class Column(msgspec.Struct, frozen=True):
    """A heading, and how the cells below it stand.

    Numbers stand at the right, all else at the left.  Numbers, words and bars keep their line; text
    may wrap in a terminal, and fitted text wraps to a page even where it is piped.  Columns of one
    ``group`` stand side by side where they fit; ``apart`` is the heading of one that stands in
    another table than the first of them.
    """

    heading: str
    kind: Literal["number", "word", "text", "fitted", "bar"] = "number"
    group: int = 0
    apart: str = ""


class Bars(msgspec.Struct, frozen=True):
    """A picture of a line a bar: its label, its part of the longest, and its value."""

    title: str
    bars: list[tuple[str, Fraction, str]]

    def lines(self, width: int) -> list[str]:
        """The bars, the longest as long as ``width`` leaves room for."""
        name = max(cell_len(label) for label, _, _ in self.bars)
        value = max(cell_len(shown) for _, _, shown in self.bars)
        longest = max(1, min(_LONGEST, width - name - value - _AROUND))
        return [
            f"{label:>{name}} {'█' * max(1, round(longest * part))} {shown}"
            for label, part, shown in self.bars
        ]


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A table, row by row; its first ``keys`` columns name what a row is about.

    ``lead`` are sentences that stand before it.
    """

    title: str = ""
    lead: list[str] = []
    columns: list[Column]
    rows: list[list[str]]
    notes: list[str] = []
    bars: list[Bars] = []
    keys: int = 1
