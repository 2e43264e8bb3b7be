"""Where the numbers of an axis stand, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log

from txcalc.render.plots.picture import Axis, Scale

MOST = 7
"""Numbers of an axis."""
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")


def axis(values: Iterable[float], unit: str, scale: Scale, title: str = "") -> Axis:
    """The axis on which some values of a unit lie; a linear one begins at zero."""
    least, most = min(values := list(values)), max(values)
    if scale == "log":
        base = 10 if unit and unit != "bytes" else 2
        places = [float(base) ** power for power in _powers(least, most, base)]
        ends = least, max(most, least * 1.0001)
    else:
        step = _step(most or 1.0, unit)
        places = [step * i for i in range(floor((most or 1.0) / step) + 1)]
        ends = 0.0, most or 1.0
    return Axis(
        scale=scale, ends=ends, ticks={p: written(p, unit) for p in places}, title=title
    )  # fmt: skip


def _powers(least: float, most: float, base: int) -> Sequence[int]:
    """Whole powers between two values, as many as there is room for."""
    slack = 1e-9
    low, high = ceil(log(least, base) - slack), floor(log(most, base) + slack)
    if high <= low:
        return range(low - 1, high + 2)
    stride = ceil((high - low + 1) / MOST)
    return range(low, high + 1, stride)


def _step(most: float, unit: str) -> float:
    """The least round step of which few reach the largest value."""
    base = 1024 if unit == "bytes" else 1000
    power = floor(log(most, base) + 1e-12) if most >= 1 else 0
    size = float(base) ** power
    round_steps = (
        [2.0**i for i in range(-4, 11)]
        if unit == "bytes"
        else [digit * 10.0**i for i in range(-6, 4) for digit in (1, 2, 5)]
    )
    return next(step * size for step in round_steps if most / (step * size) <= MOST - 1)


def written(value: float, unit: str) -> str:
    """A number of an axis: ``512 GiB``, ``100 G``, ``2,048``."""
    base, prefixes = (1024, _BINARY) if unit == "bytes" else (1000, _DECIMAL)
    if not value:
        return "0 B" if unit == "bytes" else "0"
    if unit != "bytes" and value < 1_000_000 and (not unit or value < 1000):
        return _digits(value)
    power = 0
    while power < len(prefixes) - 1 and Fraction(value) >= base ** (power + 1):
        power += 1
    return f"{_digits(value / base**power)} {prefixes[power]}".rstrip()


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"


def are_powers(values: Sequence[float]) -> bool:
    """Whether each of three values or more is the same multiple of the one before."""
    if len(values) < 3 or values[0] <= 0:
        return False
    ratio = values[1] / values[0]
    return ratio > 1 and all(abs(b / a - ratio) < 1e-9 for a, b in pairwise(values))
