"""Tables for a terminal, by rich; plain and never cut where the output is piped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Console, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from txcalc.render.sheet import Sheet, pictures, sheets
from txcalc.render.wrap import wrapped
from txcalc.report.report import Layout, Report

WIDTH = 80
_ENDLESS = 10_000


def write(reports: Sequence[Report], layout: Layout, explain: bool = False) -> str:
    """The sheets as tables, their notes and bar pictures below."""
    parts: list[RenderableType] = []
    for sheet in sheets(reports, layout, explain=explain):
        parts += [Text(sheet.title, style="bold"), _table(sheet)]
        if sheet.notes:
            parts.append(below(sheet.notes))
    for report in reports:
        bars = pictures(report)
        if bars:
            parts.append(Text("\n".join(["", f" {report.model}", *(f"   {bar}" for bar in bars)])))
    return capture(*parts)


def below(notes: Sequence[str]) -> Constrain:
    """Notes below a table, wrapped to its usual width."""
    return Constrain(Padding(Text("\n".join(notes), style="dim"), (0, 0, 0, 3)), WIDTH)


def capture(*parts: RenderableType, width: int = _ENDLESS) -> str:
    """The text of what is printed: as wide as the terminal, or as ``width`` where it is piped."""
    text = StringIO()
    if sys.stdout.isatty():
        console = Console(file=text, force_terminal=True, width=Console().width, highlight=False)
    else:
        console = Console(file=text, width=width, highlight=False, color_system=None)
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def plain_table(columns: Sequence[str], left: int) -> Table:
    """An empty table whose first ``left`` columns are text and may wrap."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(columns):
        text = i < left
        table.add_column(
            Text(name), justify="left" if text else "right", overflow="fold", no_wrap=not text
        )
    return table


def _table(sheet: Sheet) -> Table:
    table = plain_table(sheet.columns, sheet.left)
    for row in _fitted(sheet):
        table.add_row(*map(Text, row))
    return table


def _fitted(sheet: Sheet) -> list[list[str]]:
    """The rows, the column that a sheet names for it wrapped so that all fit the usual width."""
    if sheet.fitted is None:
        return sheet.rows
    i = sheet.fitted
    others = [[*row[:i], *row[i + 1 :]] for row in ([*sheet.columns], *sheet.rows)]
    taken = sum(max(map(len, column)) for column in zip(*others, strict=True))
    width = max(8, WIDTH - taken - 3 * len(sheet.columns))
    return [[*row[:i], wrapped(row[i], width), *row[i + 1 :]] for row in sheet.rows]
