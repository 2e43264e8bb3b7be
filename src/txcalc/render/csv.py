"""CSV: one line a figure, in raw base units."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from txcalc.render.data import rows
from txcalc.render.text import Layout
from txcalc.report import Report

_COLUMNS = ("model", "address", "value", "unit", "exact")


def write(reports: Sequence[Report], layout: Layout) -> str:
    """A header, then model, address, value, unit and, where it is no integer, the exact n/d."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    for report in reports:
        for row in rows(report, layout):
            value = row["value"]
            row["value"] = " ".join(map(str, value)) if isinstance(value, list) else value
            table.writerow([report.model, *(row.get(column, "") for column in _COLUMNS[1:])])
    return text.getvalue()
