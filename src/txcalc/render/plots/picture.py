"""A picture before it is drawn: curves over two axes, or bars of shares."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.page.palette import Tone

Point = tuple[float, float]
Scale = Literal["linear", "log"]


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a picture: its scale, its ends, where its numbers stand, and its title."""

    scale: Scale
    ends: Point
    ticks: dict[float, str]
    title: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line, with its name at its end; without one it has none."""

    points: list[Point]
    tone: Tone | None = None
    label: str = ""


class Area(msgspec.Struct, frozen=True, kw_only=True):
    """What lies between two lines over the same places."""

    lower: list[Point]
    upper: list[Point]
    tone: Tone
    label: str


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A dotted line across at ``x`` or at ``y``, or a point where both are given."""

    label: str
    x: float | None = None
    y: float | None = None
    tone: Tone = "mark"


class Curves(msgspec.Struct, frozen=True, kw_only=True):
    """Lines, areas and marks over two axes."""

    x: Axis
    y: Axis
    lines: list[Line] = []
    areas: list[Area] = []
    marks: list[Mark] = []


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One whole, and its parts from left to right as shares of it."""

    label: str
    note: str
    parts: list[tuple[str, Tone, float]]


class Bars(msgspec.Struct, frozen=True, kw_only=True):
    """Bars below each other."""

    bars: list[Bar]


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """What is drawn, below a title and a line of text.

    ``told`` is what a reader who does not see it is told: its numbers as lines of CSV.
    """

    title: str
    subtitle: str
    drawn: Curves | Bars
    told: str
