"""Sheets drawn as tables by rich: as wide as a terminal, plain and never cut where piped."""

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

from txcalc.render.layouts import sheets
from txcalc.render.sheet import BETWEEN, Bars, Sheet
from txcalc.render.wrap import wrapped
from txcalc.report.report import Layout, Report

WIDTH = 80
_ENDLESS = 10_000
_NARROWEST = 8
"""The least width of a fitted column."""


def reports_table(reports: Sequence[Report], layout: Layout, *, explain: bool = False) -> str:
    """The sheets as tables, each with its notes, and all bars below them."""
    pages = sheets(reports, layout, explain=explain)
    tables = [part for page in pages for part in drawn(page)]
    return capture(*tables, *(_picture(bars) for page in pages for bars in page.bars))


def drawn(sheet: Sheet) -> list[RenderableType]:
    """The title of a sheet, its table and its notes."""
    parts: list[RenderableType] = [Text(sheet.title, style="bold")] if sheet.title else []
    parts.append(_grid(sheet))
    return [*parts, below(sheet.notes)] if sheet.notes else parts


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


def _grid(sheet: Sheet) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in sheet.columns:
        table.add_column(
            Text(column.heading),
            justify="right" if column.kind == "number" else "left",
            overflow="fold",
            no_wrap=column.kind in ("number", "word"),
        )
    for row in _fitted(sheet):
        table.add_row(*map(Text, row))
    return table


def _fitted(sheet: Sheet) -> list[list[str]]:
    """The rows, a fitted column wrapped so that all fit the usual width."""
    kinds = [column.kind for column in sheet.columns]
    if "fitted" not in kinds:
        return sheet.rows
    i = kinds.index("fitted")
    lines = [[column.heading for column in sheet.columns], *sheet.rows]
    others = [cells for j, cells in enumerate(zip(*lines, strict=True)) if j != i]
    taken = sum(max(map(len, cells)) for cells in others)
    width = max(_NARROWEST, WIDTH - taken - BETWEEN * len(kinds))
    return [[*row[:i], wrapped(row[i], width), *row[i + 1 :]] for row in sheet.rows]


def _picture(bars: Bars) -> Text:
    return Text("\n".join(["", f" {bars.title}", *(f"   {line}" for line in bars.lines)]))
