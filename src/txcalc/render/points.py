"""A sweep as a table, with a bar in each line where one figure is swept over one axis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from txcalc.errors import OptionError
from txcalc.exact.quantity import Number, is_estimate
from txcalc.render.sheet import Column, Sheet, stacked
from txcalc.render.table import WIDTH, capture, drawn
from txcalc.report.format import decimal
from txcalc.sweeps.sweep import Sweep

MOST_ROWS = 2000
BAR_WIDTH = 24


def points_table(sweep: Sweep) -> str:
    """One row a point, and a table for as many figures as stand side by side in 80 columns.

    Raises:
        OptionError: more points than anybody reads.
    """
    if sweep.points > MOST_ROWS:
        raise OptionError(
            f"{sweep.points:,} points are too many for a table; choose --format csv or json"
        )
    sheet = _sheet(sweep)
    pages = stacked(sheet, WIDTH) if len(sweep.addresses) > 1 else [sheet]
    return capture(*(part for page in pages for part in drawn(page)))


def _sheet(sweep: Sweep) -> Sheet:
    """A column for each axis and each figure, and bars beside the only figure of one axis."""
    points = [json.loads(line) for _, text in sweep.lines("json") for line in text.splitlines()]
    names = [axis.name for axis in sweep.axes]
    axes = [[str(point[name]) for point in points] for name in names]
    values = [[_number(point[address]) for point in points] for address in sweep.addresses]
    cells = [_cells(column, estimated=_is_estimated(sweep, i)) for i, column in enumerate(values)]
    bars = [_bars(values[0])] if len(axes) == len(values) == 1 else []
    return Sheet(
        title="" if "model" in names else sweep.model,
        columns=[
            *(Column(name, "word" if name == "model" else "number") for name in names),
            *map(Column, sweep.addresses),
            *(Column("", "word") for _ in bars),
        ],
        rows=list(map(list, zip(*axes, *cells, *bars, strict=True))),
        keys=len(names),
    )


def _number(value: Any) -> Number:
    return Fraction(value["exact"]) if isinstance(value, dict) else int(value)


def _is_estimated(sweep: Sweep, i: int) -> bool:
    return any(is_estimate(derived.figures[i]) for derived in sweep.derived.values())


def _cells(values: Sequence[Number], *, estimated: bool) -> list[str]:
    return [
        f"≈ {decimal(value)}" if estimated and not isinstance(value, int) else decimal(value)
        for value in values
    ]


def _bars(values: Sequence[Number]) -> list[str]:
    longest = max(map(Fraction, values)) or 1
    return ["█" * round(BAR_WIDTH * Fraction(value) / longest) for value in values]
