"""CSV: one line a figure, in raw base units."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from typing import Any

from txcalc.render.values import rows
from txcalc.report.format import inert
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
            cells = [report.model, *(row.get(name, "") for name in columns[1:])]
            table.writerow(map(_cell, cells))
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A list as its items: formulas apart by commas, numbers by spaces."""
    if isinstance(value, list):
        is_text = any(isinstance(item, str) for item in value)
        value = (", " if is_text else " ").join(map(str, value))
    return inert(value) if isinstance(value, str) else value
