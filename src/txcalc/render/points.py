"""A sweep as a table, with a bar in each line where one figure is swept over one axis."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from txcalc.errors import OptionError
from txcalc.exact.quantity import Number, is_estimate
from txcalc.render.table import WIDTH, capture, plain_table
from txcalc.report.format import decimal
from txcalc.sweep.sweep import Sweep

MOST_ROWS = 2000
BAR_WIDTH = 24
_BETWEEN = 3
"""Columns between two numbers."""

Column = list[str]
"""A heading and the cells below it."""


def as_table(sweep: Sweep) -> str:
    """One row a point, and a table for as many figures as stand side by side in 80 columns.

    Raises:
        OptionError: more points than anybody reads.
    """
    if sweep.points > MOST_ROWS:
        raise OptionError(
            f"{sweep.points:,} points are too many for a table; choose --format csv or json"
        )
    rows = [json.loads(line) for _, text in sweep.lines("json") for line in text.splitlines()]
    names = [axis.name for axis in sweep.axes]
    axes = [[name, *(str(row[name]) for row in rows)] for name in names]
    values = [[_number(row[address]) for row in rows] for address in sweep.addresses]
    figures = [
        [address, *_cells(column, estimated=_is_estimated(sweep, i))]
        for i, (address, column) in enumerate(zip(sweep.addresses, values, strict=True))
    ]
    bars = [["", *_bars(values[0])]] if len(axes) == len(figures) == 1 else []
    title = [] if "model" in names else [Text(sweep.model, style="bold")]
    return capture(
        *title, *(_table([*axes, *some, *bars]) for some in _side_by_side(axes, figures))
    )


def _table(columns: Sequence[Column]) -> RenderableType:
    table = plain_table([column[0] for column in columns], 0)
    for told, column in zip(table.columns, columns, strict=True):
        told.justify = "left" if column[0] in ("model", "") else "right"
    for cells in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*map(Text, cells))
    return table


def _side_by_side(axes: Sequence[Column], figures: Sequence[Column]) -> Iterator[list[Column]]:
    """The figures in groups that are no wider than a page."""
    taken = sum(max(map(len, column)) + _BETWEEN for column in axes)
    group: list[Column] = []
    left = WIDTH - taken
    for column in figures:
        width = max(map(len, column)) + _BETWEEN
        if group and width > left:
            yield group
            group, left = [], WIDTH - taken
        group.append(column)
        left -= width
    yield group


def _number(told: Any) -> Number:
    return Fraction(told["exact"]) if isinstance(told, dict) else int(told)


def _is_estimated(sweep: Sweep, i: int) -> bool:
    return any(is_estimate(derived.figures[i]) for derived in sweep.derived.values())


def _cells(values: Sequence[Number], *, estimated: bool) -> Iterator[str]:
    for value in values:
        whole = isinstance(value, int)
        yield decimal(value) if whole or not estimated else f"≈ {decimal(value)}"


def _bars(values: Sequence[Number]) -> Iterator[str]:
    longest = max(map(Fraction, values)) or 1
    for value in values:
        yield "█" * round(BAR_WIDTH * Fraction(value) / longest)
