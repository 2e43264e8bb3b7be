"""CSV: one line a figure, in raw base units."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from typing import Any

from txcalc.render.values import rows
from txcalc.report.report import Layout, Report

_COLUMNS = ("model", "address", "value", "unit", "exact")
_TENSORS = ("dims", "copies", "count")


def reports_csv(reports: Sequence[Report], layout: Layout, *, explain: bool = False) -> str:
    """A header, then model, address, value, unit and, where it is no integer, the exact n/d."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    columns = (*_COLUMNS, *_TENSORS * (layout == "tensors"), *["formula"] * explain)
    table.writerow(columns)
    for report in reports:
        for row in rows(report, layout, explain=explain):
            table.writerow([report.model, *(_cell(row.get(name, "")) for name in columns[1:])])
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A list as its items: formulas apart by commas, numbers by spaces."""
    if not isinstance(value, list):
        return value
    return (", " if any(isinstance(item, str) for item in value) else " ").join(map(str, value))
