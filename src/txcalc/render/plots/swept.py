"""``plot sweep``: a figure over an axis, one line for each combination of the others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from txcalc.errors import OptionError
from txcalc.page.palette import TONES
from txcalc.render.plots.picture import Curves, Line, Picture, Point
from txcalc.render.plots.ticks import are_powers, axis
from txcalc.sweeps.sweep import Sweep

MOST_LINES = 8
MOST_POINTS = 5000


def swept(sweep: Sweep, given: Mapping[str, Any]) -> Picture:
    """The lines of a sweep over the last of its axes that is not over models.

    Raises:
        OptionError: no such axis, too many lines or points, or figures of several units.
        TxcalcError: whatever a point of the sweep would be refused for.
    """
    across = [axis.name for axis in sweep.axes if axis.name != "model"]
    if not across:
        raise OptionError("a plot needs an axis of numbers beside models, as --over ctx=512:4Ki:x2")
    name = across[-1]
    _refuse_too_many(sweep, name)
    lines = _lines(sweep, name)
    unit = _unit(sweep)
    xs = sorted({x for points in lines.values() for x, _ in points})
    ys = [y for points in lines.values() for _, y in points]
    is_log = are_powers(xs)
    of_lines = [
        Line(points=points, tone=TONES[i % len(TONES)], label=label)
        for i, (label, points) in enumerate(lines.items())
    ]
    beside = [sweep.model] if sweep.model else []
    beside += [f"{option.replace('_', '-')} {value}" for option, value in given.items()]
    figure = " and ".join(sweep.addresses)
    return Picture(
        title=f"{figure} over {name}",
        subtitle="; ".join([*beside, unit or "a pure number"]),
        drawn=Curves(
            x=axis(xs, "", "log" if is_log else "linear", name),
            y=axis(ys, unit, "log" if is_log and min(ys) > 0 else "linear"),
            lines=of_lines,
        ),
        told=sweep.header() + "".join(text for _, text in sweep.lines("csv")),
    )


def _refuse_too_many(sweep: Sweep, name: str) -> None:
    [length] = [len(axis.values) for axis in sweep.axes if axis.name == name]
    count = sweep.points // length * len(sweep.addresses)
    if count > MOST_LINES:
        raise OptionError(f"{count:,} lines are too many for a plot: at most {MOST_LINES}")
    if length > MOST_POINTS:
        raise OptionError(f"{length:,} points are too many for a line: at most {MOST_POINTS:,}")


def _unit(sweep: Sweep) -> str:
    units = dict.fromkeys(q.unit for sized in sweep.derived.values() for q in sized.figures)
    if len(units) > 1:
        named = " and ".join(unit or "pure numbers" for unit in units)
        raise OptionError(f"{named} do not stand on one axis: plot figures of one unit")
    return next(iter(units))


def _lines(sweep: Sweep, name: str) -> dict[str, list[Point]]:
    """The points of each line by its label: the values of the other axes, and the figure."""
    lines: dict[str, list[Point]] = {}
    for _, text in sweep.lines("json"):
        for point in map(json.loads, text.splitlines()):
            others = [
                str(value) if axis.name == "model" else f"{axis.name} {value:,}"
                for axis in sweep.axes
                if axis.name != name
                for value in [point[axis.name]]
            ]
            for address in sweep.addresses:
                label = ", ".join([*others, *([address] if len(sweep.addresses) > 1 else [])])
                lines.setdefault(label, []).append((float(point[name]), _number(point[address])))
    return lines


def _number(value: Any) -> float:
    return float(Fraction(value["exact"])) if isinstance(value, dict) else float(value)
