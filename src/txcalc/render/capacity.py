"""Sheets of what GPUs hold: parts beside what divides them, a budget, and lists of what fits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from txcalc.render.figures import pictures
from txcalc.render.labels import labels, merged, notes
from txcalc.render.sheet import Column, Sheet
from txcalc.report import address as grammar
from txcalc.report.format import cell, decimal
from txcalc.report.report import Report

_EACH = _ONE, _ALL = "memory.gpu", "memory.total"
_LONGEST = 25
"""Characters of the longest bar of a budget."""


def capacity(
    reports: Sequence[Report], layout: Literal["divided", "budget", "grid"]
) -> list[Sheet]:
    """Each model on sheets of its own; of grids those with one title on one."""
    match layout:
        case "divided":
            return [divided(report) for report in reports]
        case "budget":
            return [sheet for report in reports for sheet in budget(report)]
        case "grid":
            titles = dict.fromkeys(report.title for report in reports)
            return [grid([r for r in reports if r.title == title]) for title in titles]


def divided(report: Report) -> Sheet:
    """One row a part: of one GPU, of all of them, and what divides it; of one GPU its bytes."""
    parts = merged(
        [[a.removeprefix(at) for a in report.shown if grammar.is_below(a, at)] for at in _EACH]
    )
    labelled = labels([report], [_ONE + part for part in parts])
    columns, rows = [Column("", "text"), Column("per GPU")], []
    for part in parts:
        here, in_total = (report.figures.get(at + part) for at in _EACH)
        row = [labelled[_ONE + part], "-" if here is None else cell(here)]
        if report.remarks:
            row += [
                "-" if in_total is None else cell(in_total),
                report.remarks.get(_ONE + part, ""),
            ]
        elif here is not None:
            row.append(decimal(here.value))
        rows.append(row)
    columns += [Column("in total"), Column("divided by", "text")] if report.remarks else []
    columns += [] if report.remarks else [Column("bytes")]
    return Sheet(
        title=f"{report.model}: {report.title}",
        columns=columns,
        rows=rows,
        notes=notes([report]),
        bars=pictures(report),
    )


def budget(report: Report) -> list[Sheet]:
    """What comes off a GPU's memory, what fits in the rest, and what else would."""
    first, *others = _subtraction(report), _answers(report), *_ways(report)
    first = replace(first, title=f"{report.model}: {report.title}", lead=report.lead)
    return [first, *others[:-1], replace(others[-1], notes=notes([report]))]


def _subtraction(report: Report) -> Sheet:
    """Bytes of each GPU, each with a remark or a bar."""
    shown = [address for address in report.shown if report.figures[address].unit == "bytes"]
    lengths = {bar.label: Fraction(bar.length.value) for bar in report.bars}
    longest = max(lengths.values(), default=0) or 1
    rows = []
    for address in shown:
        beside = report.remarks.get(address, "")
        if address in lengths:
            beside = "█" * round(_LONGEST * lengths[address] / longest)
        rows.append([report.labels[address], cell(report.figures[address]), beside])
    columns = [Column("of each GPU", "text"), Column(""), Column("", "text")]
    return Sheet(columns=columns, rows=rows)


def _answers(report: Report) -> Sheet:
    """Requests, tokens and context: the bound, and beside it the engine's with the reason."""
    shown = [address for address in report.shown if report.figures[address].unit != "bytes"]
    of_engine = {a: a.replace("fit.engine.", "fit.") for a in shown if "fit.engine." in a}
    rows: dict[str, list[str]] = {}
    for address in shown:
        name = of_engine.get(address, address)
        row = rows.setdefault(name, [report.labels[name], "", "", ""])
        row[2 if address in of_engine else 1] = cell(report.figures[address])
        row[3] = row[3] or report.remarks.get(address, "")
    columns = [Column("", "text"), Column("bound"), Column(report.labels.get("fit.engine", ""))]
    columns.append(Column("why they differ", "fitted"))
    kept = len(columns) if of_engine else 2
    return Sheet(
        title="what fits", columns=columns[:kept], rows=[row[:kept] for row in rows.values()]
    )


def _ways(report: Report) -> list[Sheet]:
    """What other options would hold, if there are any."""
    rows = [
        [way.words, *("" if held is None else cell(held) for held in (way.requests, way.context))]
        for way in report.ways
    ]
    headings = [Column("requests"), Column(report.labels["fit.context"])]
    columns = [Column("", "text"), *headings]
    return [Sheet(title="what would fit with", columns=columns, rows=rows)] if rows else []


def grid(reports: Sequence[Report]) -> Sheet:
    """Addresses by row and column: their labels are the rows', their remarks the columns'.

    What has no figure is ``-``.
    """
    rows: dict[tuple[int, str], dict[str, str]] = {}
    for i, report in enumerate(reports):
        for address, label in report.labels.items():
            figure = report.figures.get(address)
            shown = "-" if figure is None else cell(figure)
            rows.setdefault((i, label), {})[report.remarks[address]] = shown
    columns = merged([list(row) for row in rows.values()])
    return Sheet(
        title=reports[0].title,
        lead=reports[0].lead,
        columns=[Column("", "text"), *map(Column, columns)],
        rows=[
            [label, *(cells[column] for column in columns)] for (_, label), cells in rows.items()
        ],
        notes=notes(reports),
    )
