"""The sheet of figures: one row a figure, one column a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from txcalc.exact.quantity import Quantity
from txcalc.render.labels import differing, labels, layer_rows, names, notes
from txcalc.render.sheet import Bars, Column, Sheet
from txcalc.report.format import COUNTED, binary, cell, decimal, in_thousands, percent
from txcalc.report.report import Report

SHARE = "share: of the total, for (x N) that of all N; within a block, of that block"

_Shown = Mapping[str, Quantity]
"""The figures of one report by their short addresses."""


class _Line(NamedTuple):
    """A row: its label, the cell of each report by its place, and the short address if it has one.

    Where no report has a cell it is a heading.
    """

    label: str
    cells: Mapping[int, str]
    name: str = ""

    def cell(self, i: int) -> str:
        return self.cells.get(i, "-" if self.cells else "")


def figures(reports: Sequence[Report]) -> Sheet:
    """All models side by side; one model alone also shows shares and exact bytes."""
    shown = [{r.short(address): r.figures[address] for address in r.shown} for r in reports]
    units = {quantity.unit for of_model in shown for quantity in of_model.values()}
    lines = list(_lines(reports, shown, units))
    columns, cells = [Column("", "text")], [[line.label for line in lines]]
    for i, report in enumerate(reports):
        columns.append(Column(report.model, group=i + 1))
        cells.append([line.cell(i) for line in lines])
        for heading, beside in _beside(report, shown[i], units, alone=len(reports) == 1).items():
            columns.append(Column(heading, group=i + 1, apart=f"{report.model}\n{heading}"))
            cells.append([beside.get(line.name, "") for line in lines])
    has_shares = any(column.heading == "share" for column in columns)
    return Sheet(
        title=reports[0].title + _unit(units - {reports[0].title}),
        lead=_lead(reports),
        columns=columns,
        rows=list(map(list, zip(*cells, strict=True))),
        notes=[*notes(reports), *[SHARE] * has_shares],
        bars=[bars for report in reports for bars in pictures(report)],
    )


def _lead(reports: Sequence[Report]) -> list[str]:
    """What stands first, of several models behind each one's name."""
    if len(reports) == 1:
        return reports[0].lead
    return [f"{report.model}: {line}" for report in reports for line in report.lead]


def pictures(report: Report) -> list[Bars]:
    """The bar picture of a report that has one."""
    if not report.bars:
        return []
    longest = Fraction(max(bar.length.value for bar in report.bars))
    bars = [(b.label, b.length.value / longest, binary(b.length.value)) for b in report.bars]
    return [Bars(report.model, bars)]


def _lines(
    reports: Sequence[Report], shown: Sequence[_Shown], units: Collection[str]
) -> Iterator[_Line]:
    """In what the models differ, then the figures, and below a block how many layers it stands for.

    Of unlike units each label says its own; bytes have theirs in the cell.
    """
    for label, cells in differing(reports).items():
        yield _Line(label, cells)
    listed = names(reports)
    labelled = labels(reports, listed)
    below = layer_rows(reports, labelled)
    for name in listed:
        quantities = {i: of_model[name] for i, of_model in enumerate(shown) if name in of_model}
        own = {q.unit for q in quantities.values()} - {"", "bytes"} if len(units) > 1 else ()
        label = " ".join([labelled[name], *(f"({unit})" for unit in own)])
        yield _Line(label, {i: cell(q) for i, q in quantities.items()}, name)
        if name in below:
            yield _Line(*below[name])


def _beside(
    report: Report, shown: _Shown, units: Collection[str], *, alone: bool
) -> dict[str, dict[str, str]]:
    """Further columns of a model by their headings, each from short addresses to cells."""
    counted = {name: q for name, q in shown.items() if q.unit in COUNTED}
    columns: dict[str, dict[str, str]] = {}
    if counted and (alone or len(units) == 1):
        prefix, cells = in_thousands(q.value for q in counted.values())
        unit = next(iter(counted.values())).unit
        columns[prefix + unit] = dict(zip(counted, cells, strict=False))
    if alone:
        columns["share"] = {report.short(a): percent(share) for a, share in report.shares.items()}
        columns["bytes"] = {n: decimal(q.value) for n, q in shown.items() if q.unit == "bytes"}
    return {heading: column for heading, column in columns.items() if column}


def _unit(units: Collection[str]) -> str:
    """The only unit of a table, for its title."""
    return f" ({unit})" if len(units) == 1 and (unit := next(iter(units))) else ""
