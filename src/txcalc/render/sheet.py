"""What a table is before anything draws it: a titled grid of text, with notes and bars below."""

from __future__ import annotations

from typing import Literal

import msgspec

BETWEEN = 3
"""Characters between two columns."""


class Column(msgspec.Struct, frozen=True):
    """A heading, and how the cells below it stand.

    Numbers stand at the right and words at the left, on one line; text may wrap, and fitted text
    takes the width that the other columns leave.
    """

    heading: str
    kind: Literal["number", "word", "text", "fitted"] = "number"


class Bars(msgspec.Struct, frozen=True):
    """A picture of a line a bar."""

    title: str
    lines: list[str]


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A table, row by row; its first ``keys`` columns name what a row is about."""

    title: str = ""
    columns: list[Column]
    rows: list[list[str]]
    notes: list[str] = []
    bars: list[Bars] = []
    keys: int = 1


def stacked(sheet: Sheet, width: int) -> list[Sheet]:
    """A sheet as several, each with the keys and as many other columns as ``width`` holds."""
    cells = zip(*([column.heading for column in sheet.columns], *sheet.rows), strict=True)
    widths = [max(map(len, column)) + BETWEEN for column in cells]
    keys = list(range(sheet.keys))
    groups = [list(keys)]
    for i in range(sheet.keys, len(widths)):
        if groups[-1] != keys and sum(widths[j] for j in (*groups[-1], i)) > width:
            groups.append(list(keys))
        groups[-1].append(i)
    last = len(groups) - 1
    return [
        Sheet(
            title=sheet.title if n == 0 else "",
            columns=[sheet.columns[i] for i in group],
            rows=[[row[i] for i in group] for row in sheet.rows],
            notes=sheet.notes if n == last else [],
            bars=sheet.bars if n == last else [],
            keys=sheet.keys,
        )
        for n, group in enumerate(groups)
    ]
