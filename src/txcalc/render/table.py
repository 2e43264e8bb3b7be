"""Sheets drawn in a terminal's width, and plain and whole where they are piped."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from io import StringIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from txcalc.render.layouts import sheets
from txcalc.render.sheet import PAGE, Bars, Sheet
from txcalc.render.widths import Screen, pages
from txcalc.report.format import printable_lines
from txcalc.report.report import Layout, Report

WIDTH = PAGE
_ENDLESS = 10_000


def reports_table(reports: Sequence[Report], layout: Layout, *, explain: bool = False) -> str:
    """The sheets as tables, each with its notes, and all bars below them."""
    listed = sheets(reports, layout, explain=explain)
    tables = [part for sheet in listed for part in drawn(sheet)]
    return capture(*tables, *(_picture(bars) for sheet in listed for bars in sheet.bars))


def drawn(sheet: Sheet) -> list[RenderableType]:
    """The title of a sheet, what stands first, its tables and its notes."""
    parts: list[RenderableType] = [Text(sheet.title, style="bold")] if sheet.title else []
    if sheet.lead:
        parts += ["", Constrain(Padding(Text("\n".join(sheet.lead)), (0, 0, 0, 1)), PAGE)]
    parts += ["", *(line for page in pages(sheet, terminal()) for line in _lines(page))]
    return [*parts, below(sheet.notes)] if sheet.notes else parts


def below(notes: Sequence[str]) -> Constrain:
    """Notes below a table, wrapped to a page."""
    return Constrain(Padding(Text("\n".join(notes), style="dim"), (0, 0, 0, 3)), PAGE)


def terminal() -> int | None:
    """The width of the terminal that is written to, if it is one."""
    return Console().width if sys.stdout.isatty() else None


def capture(*parts: RenderableType, width: int = _ENDLESS) -> str:
    """The text of what is printed: as wide as the terminal, or as ``width`` where it is piped."""
    text, columns = StringIO(), terminal()
    if columns is None:
        console = Console(file=text, width=width, highlight=False, color_system=None)
    else:
        console = Console(file=text, force_terminal=True, width=columns, highlight=False)
    for part in parts:
        console.print(_Harmless(part), crop=False)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


class _Harmless:
    """What is printed, no text of which a terminal obeys."""

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self._part, options):
            yield Segment(printable_lines(text), style, control)


def kept(text: str, style: str = "") -> Text:
    """Text whose lines are printed as they are."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def _lines(page: Screen) -> Iterator[RenderableType]:
    """A table above a blank line, its headings bold."""
    if page.head:
        *headings, rule = page.head
        yield kept("\n".join(headings), "bold")
        yield kept(rule)
    if page.body:
        yield kept("\n".join(page.body))
    yield ""


def _picture(bars: Bars) -> Group:
    """Bars below their title."""
    lines = bars.lines(terminal() or PAGE)
    return Group("", Text(f" {bars.title}"), *(kept(f"   {line}") for line in lines))
