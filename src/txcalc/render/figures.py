"""The sheet of figures: one row a figure, one column a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from txcalc.exact.quantity import Quantity
from txcalc.render.labels import differing, labels, layer_rows, names, notes
from txcalc.render.sheet import Bars, Column, Sheet
from txcalc.report.format import COUNTED, cell, decimal, in_thousands, percent
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
    shown = [
        {r.short(address): r.figures[address] for address in r.shown if address in r.figures}
        for r in reports
    ]
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
        notes=[*_remarks(reports), *notes(reports), *[SHARE] * has_shares],
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
    bars = [(b.label, b.length.value / longest, cell(b.length)) for b in report.bars]
    return [Bars(report.model, bars)]


def _lines(
    reports: Sequence[Report], shown: Sequence[_Shown], units: Collection[str]
) -> Iterator[_Line]:
    """In what the models differ, then the figures, and below a block how many layers it stands for.

    Of unlike units each label says its own; bytes and seconds have theirs in the cell.
    """
    for label, cells in differing(reports).items():
        yield _Line(label, cells)
    listed = names(reports)
    labelled = labels(reports, listed)
    below = layer_rows(reports, labelled)
    reasons = _reasons(reports)
    for name in listed:
        quantities = {i: of_model[name] for i, of_model in enumerate(shown) if name in of_model}
        own = (
            {q.unit for q in quantities.values()} - {"", "bytes", "seconds"}
            if len(units) > 1
            else ()
        )
        label = " ".join([labelled[name], *(f"({unit})" for unit in own)])
        best = _best(reports, name, quantities)
        cells = {i: cell(q) + best.get(i, "") for i, q in quantities.items()}
        for i, report in enumerate(reports):
            why = _refused(report).get(name)
            if why is not None:
                cells[i] = f"{'never' if _is_never(why) else '-'} ({reasons[why]})"
        yield _Line(label, cells, name)
        if name in below:
            yield _Line(*below[name])


def _refused(report: Report) -> dict[str, str]:
    """Why a report has no figure of some that it lists, by their short addresses."""
    missing = (address for address in report.shown if address not in report.figures)
    return {report.short(address): report.refused[address] for address in missing}


def _is_never(why: str) -> bool:
    return why.startswith("never: ")


def _reasons(reports: Sequence[Report]) -> dict[str, int]:
    """The reasons of all reports, each with its number."""
    listed = dict.fromkeys(why for report in reports for why in _refused(report).values())
    return {why: i for i, why in enumerate(listed, 1)}


def _best(
    reports: Sequence[Report], name: str, quantities: Mapping[int, Quantity]
) -> dict[int, str]:
    """A mark behind the best of a row, and room for it behind the others."""
    chosen = {r.best[a] for r in reports for a in r.shown if a in r.best and r.short(a) == name}
    if len(reports) == 1 or not chosen or not quantities:
        return {}
    values = {i: quantity.value for i, quantity in quantities.items()}
    best = (max if "most" in chosen else min)(values.values())
    return {i: "*" if value == best else " " for i, value in values.items()}


def _remarks(reports: Sequence[Report]) -> list[str]:
    """What marks and numbers in cells mean."""
    marked = len(reports) > 1 and any(report.best for report in reports)
    numbered = (f"({i}) {why}" for why, i in _reasons(reports).items())
    return [*["* the best of its row"] * marked, *numbered]


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
