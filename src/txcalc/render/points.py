"""A sweep as a table, with a bar in each line where one figure is swept over one axis."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from txcalc.errors import OptionError
from txcalc.exact.quantity import Number, is_estimate
from txcalc.render.sheet import Column, Sheet
from txcalc.render.table import capture, drawn
from txcalc.report.format import COUNTED, binary, decimal, in_thousands
from txcalc.sweeps.sweep import Sweep

MOST_ROWS = 2000
BAR_WIDTH = 24


def points_table(sweep: Sweep) -> str:
    """One row a point.

    Raises:
        OptionError: more points than anybody reads.
    """
    if sweep.points > MOST_ROWS:
        raise OptionError(
            f"{sweep.points:,} points are too many for a table; choose --format csv or json"
        )
    return capture(*drawn(_sheet(sweep)))


def _sheet(sweep: Sweep) -> Sheet:
    """A column for each axis, those of each figure, and bars beside the only figure of one axis."""
    points = [json.loads(line) for _, text in sweep.lines("json") for line in text.splitlines()]
    names = [axis.name for axis in sweep.axes]
    axes = [[str(point[name]) for point in points] for name in names]
    values = [[_number(point[address]) for point in points] for address in sweep.addresses]
    columns = [
        column
        for i, of_figure in enumerate(values)
        for column in _columns(sweep, i, of_figure, has_bars=len(axes) == len(values) == 1)
    ]
    return Sheet(
        title="" if "model" in names else sweep.model,
        columns=[
            *(Column(name, "text" if name == "model" else "number") for name in names),
            *(column for column, _ in columns),
        ],
        rows=list(map(list, zip(*axes, *(cells for _, cells in columns), strict=True))),
        keys=len(names),
    )


def _number(value: Any) -> Number:
    return Fraction(value["exact"]) if isinstance(value, dict) else int(value)


def _columns(
    sweep: Sweep, i: int, values: Sequence[Number], *, has_bars: bool
) -> Iterator[tuple[Column, list[str]]]:
    """The columns of one figure: as other tables have it, its other form, and its bars."""
    address, figures = sweep.addresses[i], [d.figures[i] for d in sweep.derived.values()]
    unit, group = figures[0].unit, i + 1
    sign = "≈ " if any(map(is_estimate, figures)) else ""
    digits = [decimal(v) if isinstance(v, int) else sign + decimal(v) for v in values]
    if unit == "bytes":
        yield Column(address, group=group), list(map(binary, values))
        yield Column("bytes", group=group, apart=f"{address}\nbytes"), digits
    else:
        yield Column(address, group=group), digits
    if unit in COUNTED:
        prefix, cells = in_thousands(values)
        heading = prefix + unit
        if cells:
            yield Column(heading, group=group, apart=f"{address}\n{heading}"), cells
    if has_bars:
        longest = max(map(Fraction, values)) or 1
        bars = ["█" * round(BAR_WIDTH * Fraction(value) / longest) for value in values]
        yield Column("", "bar", group), bars
