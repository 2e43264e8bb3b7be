"""A sweep as a table, with a bar in each line where one axis is swept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from txcalc.errors import OptionError
from txcalc.numerals import decimal
from txcalc.render.table import capture, plain_table
from txcalc.sweep import Sweep

MOST_ROWS = 2000
BAR_WIDTH = 24


def as_table(sweep: Sweep) -> str:
    """One row a point.

    Raises:
        OptionError: more points than anybody reads.
    """
    if sweep.points > MOST_ROWS:
        raise OptionError(
            f"{sweep.points:,} points are too many for a table; choose --format csv or json"
        )
    rows = [line.split(",") for _, text in sweep.lines("csv") for line in text.splitlines()]
    one_axis = len(sweep.axes) == 1
    names = [axis.name for axis in sweep.axes]
    table = plain_table([*names, *sweep.addresses, *[""] * one_axis], 1)
    table.columns[0].justify = "right" if names[0] != "model" else "left"
    if one_axis:
        table.columns[-1].justify = "left"
    bars = _bars([row[len(names)] for row in rows]) if one_axis else [""] * len(rows)
    for row, bar in zip(rows, bars, strict=True):
        cells = [*row[: len(names)], *map(_shown, row[len(names) :]), *[bar] * one_axis]
        table.add_row(*map(Text, cells))
    title = [] if "model" in names else [Text(sweep.model, style="bold")]
    return capture(*title, table)


def _shown(text: str) -> str:
    return decimal(int(text)) if text.isdecimal() else f"{float(text):,.6g}"


def _bars(values: Sequence[str]) -> Iterable[str]:
    numbers = [float(value) for value in values]
    longest = max(map(abs, numbers)) or 1.0
    return ["█" * round(BAR_WIDTH * abs(number) / longest) for number in numbers]
