"""Markdown: the same sheets as the tables."""

from __future__ import annotations

from collections.abc import Sequence

from txcalc.render.sheet import Sheet, pictures, sheets
from txcalc.report.report import Layout, Report


def write(reports: Sequence[Report], layout: Layout, explain: bool = False) -> str:
    """A heading, a pipe table and a list of notes for each sheet."""
    text = "\n".join(_sheet(sheet) for sheet in sheets(reports, layout, explain=explain))
    for report in reports:
        if bars := pictures(report):
            text += "\n".join(["", f"{report.model}:", "", "```text", *bars, "```", ""])
    return text


def _sheet(sheet: Sheet) -> str:
    marks = [":--" if i < sheet.left else "--:" for i in range(len(sheet.columns))]
    lines = [f"### {sheet.title}", "", *map(_line, (sheet.columns, marks, *sheet.rows)), ""]
    return "\n".join(lines + [f"- {_escaped(note)}" for note in sheet.notes]) + "\n"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(_escaped(cell.replace("  ", "&nbsp;&nbsp;")) for cell in cells) + " |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
