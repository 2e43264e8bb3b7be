"""Markdown: the same sheets as the tables."""

from __future__ import annotations

from collections.abc import Sequence

from txcalc.render.layouts import sheets
from txcalc.render.sheet import PAGE, Bars, Column, Sheet
from txcalc.report.report import Layout, Report


def reports_markdown(reports: Sequence[Report], layout: Layout, *, explain: bool = False) -> str:
    """A heading, a pipe table and a list of notes for each sheet, and all bars below them."""
    pages = sheets(reports, layout, explain=explain)
    text = "\n".join(map(_table, pages))
    return text + "".join(_picture(bars) for page in pages for bars in page.bars)


def _table(sheet: Sheet) -> str:
    headings = [column.heading.replace("\n", " ") for column in sheet.columns]
    marks = [_mark(column) for column in sheet.columns]
    lead = [part for line in sheet.lead for part in (_escaped(line), "")]
    lines = [f"### {sheet.title}", "", *lead, *map(_line, (headings, marks, *sheet.rows)), ""]
    return "\n".join(lines + [f"- {_escaped(note)}" for note in sheet.notes]) + "\n"


def _mark(column: Column) -> str:
    return "--:" if column.kind == "number" else ":--"


def _picture(bars: Bars) -> str:
    return "\n".join(["", f"{bars.title}:", "", "```text", *bars.lines(PAGE), "```", ""])


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(_escaped(cell.replace("  ", "&nbsp;&nbsp;")) for cell in cells) + " |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
