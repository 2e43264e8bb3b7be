"""CSV: one line a figure, in raw base units."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from txcalc.render.data import rows
from txcalc.render.text import Layout
from txcalc.report import Report

_COLUMNS = ("model", "address", "value", "unit", "exact")


def write(reports: Sequence[Report], layout: Layout, explain: bool = False) -> str:
    """A header, then model, address, value, unit and, where it is no integer, the exact n/d."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    columns = (*_COLUMNS, "formula") if explain else _COLUMNS
    table.writerow(columns)
    for report in reports:
        for row in rows(report, layout, explain=explain):
            value = row["value"]
            row["value"] = " ".join(map(str, value)) if isinstance(value, list) else value
            if explain and isinstance(row["formula"], list):
                row["formula"] = ", ".join(row["formula"])
            table.writerow([report.model, *(row.get(column, "") for column in columns[1:])])
    return text.getvalue()
