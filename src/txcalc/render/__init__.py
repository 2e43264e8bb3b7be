"""Answers as text: reports in four formats; explanations, sweeps and verdicts in theirs.

Imports point one way: a format imports ``values`` (raw rows) or ``layouts`` (from reports to
sheets), ``layouts`` imports ``sheet`` (a table before it is drawn), and ``widths`` makes of a sheet
the tables that a terminal has room for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from txcalc.report.format import printable_lines
from txcalc.report.report import Layout, Report

Format = Literal["table", "json", "csv", "markdown"]


def render(
    reports: Sequence[Report], fmt: Format, layout: Layout = "figures", *, explain: bool = False
) -> str:
    """Reports in a format, its module imported only now; ``explain`` adds every row's formula."""
    match fmt:
        case "table":
            from txcalc.render.table import reports_table

            return reports_table(reports, layout, explain=explain)
        case "json":
            from txcalc.render.json import reports_json

            return printable_lines(reports_json(reports, layout, explain=explain))
        case "csv":
            from txcalc.render.csv import reports_csv

            return reports_csv(reports, layout, explain=explain)
        case "markdown":
            from txcalc.render.markdown import reports_markdown

            return printable_lines(reports_markdown(reports, layout, explain=explain))
