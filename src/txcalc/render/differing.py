"""Differences of a checkpoint as lines: those alike in several layers together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from txcalc.report.report import Difference, Report

MOST = 40
"""Lines of a table; the rest is counted."""
_LAYER = re.compile(r"(?<![^.])\d+(?![^.])", re.ASCII)


def lines(report: Report) -> list[list[str]]:
    """What, row, layers, expected, found and tensor of each difference."""
    alike: dict[tuple[str, ...], list[Difference]] = {}
    for each in report.differences:
        name = _LAYER.sub("*", each.tensor, count=1)
        key = (each.what, each.row, each.expected, each.found, name)
        alike.setdefault(key, []).append(each)
    listed = [_line(report, group) for group in alike.values()]
    rest = len(listed) - MOST
    return listed[:MOST] + [[f"and {rest:,} more", "", "", "", "", ""]] * (rest > 0)


def _line(report: Report, alike: list[Difference]) -> list[str]:
    first = alike[0]
    layers = sorted({each.layer for each in alike if each.layer is not None})
    name = first.tensor if len(alike) == 1 else _LAYER.sub("*", first.tensor, count=1)
    return [
        first.what, report.short(first.row), ", ".join(_runs(layers)), first.expected, first.found,
        name,
    ]  # fmt: skip


def _runs(numbers: Iterable[int]) -> Iterator[str]:
    """Numbers in a row as the first and the last of them: ``0-2``, ``7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    for run in runs:
        yield f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0])
