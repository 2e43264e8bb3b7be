"""Tables for a terminal, by rich; plain and never cut where the output is piped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from txcalc.render.sheet import Sheet, pictures, sheets
from txcalc.render.text import Layout
from txcalc.report import Report

WIDTH = 80
_ENDLESS = 10_000


def write(reports: Sequence[Report], layout: Layout) -> str:
    """The sheets as tables, their notes and bar pictures below."""
    text = StringIO()
    console = _console(text)
    for sheet in sheets(reports, layout):
        console.print(_table(sheet))
        if sheet.notes:
            notes = Text("\n".join(sheet.notes), style="dim")
            console.print(Padding(notes, (0, 0, 0, 3)), width=min(console.width, WIDTH))
    for report in reports:
        bars = pictures(report)
        if bars:
            console.print(Text("\n".join(["", f" {report.model}", *(f"   {bar}" for bar in bars)])))
    lines = (line.rstrip() for line in text.getvalue().splitlines())
    return "\n".join(lines) + "\n"


def _console(text: StringIO) -> Console:
    """A console that writes to ``text`` what standard output can show."""
    if sys.stdout.isatty():
        return Console(file=text, force_terminal=True, width=Console().width, highlight=False)
    return Console(file=text, width=_ENDLESS, highlight=False, color_system=None)


def _table(sheet: Sheet) -> Table:
    table = Table(title=sheet.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for i, name in enumerate(sheet.columns):
        text = i < sheet.left
        table.add_column(
            Text(name), justify="left" if text else "right", overflow="fold", no_wrap=not text
        )
    for row in sheet.rows:
        table.add_row(*map(Text, row))
    return table
