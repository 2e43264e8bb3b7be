"""From reports to sheets: a layout is one function, and ``sheets`` names each of them once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from txcalc.exact.quantity import Number
from txcalc.render.figures import figures, pictures
from txcalc.render.labels import labels, notes
from txcalc.render.sheet import Column, Sheet
from txcalc.report import address as grammar
from txcalc.report.format import cell, decimal, in_thousands
from txcalc.report.report import Held, Layout, Report

_DOCUMENT = re.compile("[,;] ")
"""What follows says where in a document, and which others there are."""


def sheets(reports: Sequence[Report], layout: Layout, *, explain: bool = False) -> list[Sheet]:
    """All models on one sheet, or each on its own where a layout needs the width."""
    if explain and layout != "shapes":  # shapes are formulas already
        return [explained(report, layout) for report in reports]
    match layout:
        case "figures":
            return [figures(reports)]
        case "differences":
            return [sheet for report in reports for sheet in differences(report)]
        case "catalogue":
            return [catalogue(reports)]
        case "shapes":
            return [shapes(report) for report in reports]
        case "tensors":
            return [tensors(report) for report in reports]
        case "steps":
            return [steps(report) for report in reports]
        case "divided" | "budget" | "grid":
            from txcalc.render.capacity import capacity

            return capacity(reports, layout)
        case "roofline":
            from txcalc.render.roofline import roofline

            return [sheet for report in reports for sheet in roofline(report)]


def explained(report: Report, layout: Layout) -> Sheet:
    """One row a figure: in letters, or where that is long in the names of the figures below it."""
    from txcalc.report.explain import brief

    shown = [address for address in report.shown if address in report.figures]
    addresses = list(report.tensors) if layout == "tensors" else shown
    labelled = labels([report], [report.short(address) for address in addresses])
    units = {report.figures[address].unit for address in addresses}
    rows = [
        [
            labelled[report.short(address)],
            brief(report, address),
            cell(report.figures[address], with_unit=len(units) > 1),
        ]
        for address in addresses
    ]
    return Sheet(
        title=report.title,
        columns=[Column("", "text"), Column("formula", "fitted"), Column(report.model)],
        rows=rows,
        notes=notes([report]),
        bars=pictures(report),
    )


def shapes(report: Report) -> Sheet:
    """One row a point of a block."""
    from txcalc.exact.printing import symbolic

    rows = [
        [
            report.short(address).removeprefix("shapes.block").lstrip("."),
            ", ".join(map(symbolic, report.shapes[address])),
            ", ".join(decimal(size.value) for size in report.shapes[address]),
            report.notes.get(address, ""),
        ]
        for address in report.shown
    ]
    return Sheet(
        title=f"{report.model}: {report.title}",
        columns=[
            Column("point", "text"),
            Column("shape", "fitted"),
            Column("sizes", "text"),
            Column("stream", "text"),
        ],
        rows=rows,
        notes=notes([report]),
    )


def tensors(report: Report) -> Sheet:
    """One row a weight: its dims, how many of it there are, and what they hold together."""
    rows = [_tensor(report.short(address), held) for address, held in report.tensors.items()]
    rows.append(["total", "", "", "", cell(report.figures["params.total"])])
    return Sheet(
        title=f"{report.model}: every tensor, dims as out x in",
        columns=[
            Column("tensor", "text"),
            Column("dims", "text"),
            Column("sizes", "text"),
            Column("copies"),
            Column("count"),
        ],
        rows=rows,
        notes=notes([report]),
    )


def _tensor(name: str, held: Held) -> list[str]:
    from txcalc.exact.printing import symbolic
    from txcalc.render.values import tensor

    weight, values = held.weight, tensor(held)
    sides = [side for side in (weight.outputs, weight.inputs) if side]
    count = "buffer" if weight.use == "buffer" else decimal(values["count"])
    return [
        name.removeprefix("params."),
        " x ".join("·".join(map(symbolic, side)) for side in sides),
        " x ".join(map(decimal, values["dims"])),
        decimal(values["copies"]),
        "tied" if weight.tied else count,
    ]


def steps(report: Report) -> Sheet:
    """One row a step of generation: tokens both ways, FLOPs in thousands, and in all digits."""
    prefixes = dict.fromkeys(grammar.parent(grammar.parent(a)) for a in report.shown)
    values = {
        (what, way): [report.figures[f"{prefix}.{what}.{way}"].value for prefix in prefixes]
        for what in ("tokens", "flops")
        for way in ("naive", "cached", "ratio")
    }
    digits = {at: [decimal(value, 3) for value in column] for at, column in values.items()}
    groups = [
        {f"tokens\n{way}": digits["tokens", way] for way in ("naive", "cached", "ratio")},
        _in_thousands(values) | {"FLOPs\nratio": digits["flops", "ratio"]},
        {f"FLOPs\n{way}": digits["flops", way] for way in ("naive", "cached")},
    ]
    columns = [Column(heading, group=i) for i, group in enumerate(groups, 1) for heading in group]
    cells = [column for group in groups for column in group.values()]
    return Sheet(
        title=f"{report.model}: {report.title}",
        columns=[Column("", "text"), *columns],
        rows=list(map(list, zip(map(_step, prefixes), *cells, strict=True))),
        notes=notes([report]),
    )


def _in_thousands(values: Mapping[tuple[str, str], Sequence[Number]]) -> dict[str, list[str]]:
    """FLOPs both ways in one unit a column, where they are long."""
    shown = {way: in_thousands(values["flops", way]) for way in ("naive", "cached")}
    return {f"{prefix}FLOPs\n{way}": cells for way, (prefix, cells) in shown.items() if cells}


def _step(prefix: str) -> str:
    step = grammar.below(prefix, "generation")
    return "in all" if step == prefix else step.replace(".", " ").replace("_", " ")


def differences(report: Report) -> list[Sheet]:
    """The figures of a checkpoint, and where it differs a second sheet of what and where."""
    from txcalc.render.differing import lines

    counted = figures([report])
    if not report.differences:
        return [counted]
    listed = Sheet(
        title="differences",
        columns=[Column(heading, "text") for heading in
                 ("", "row", "layers", "expected", "found", "tensor")],
        rows=lines(report),
    )  # fmt: skip
    return [counted, listed]


def catalogue(reports: Sequence[Report]) -> Sheet:
    """One line a model, below a row that names its kind; of its source, the document alone."""
    address = "params.total"
    kinds: dict[str, list[list[str]]] = {}
    for report in sorted(reports, key=lambda report: report.notes.get(address, "")):
        kind = report.notes.get(address, "")
        name = f"  {report.model}" if kind else report.model
        row = [name, _DOCUMENT.split(report.source)[0], cell(report.figures[address])]
        kinds.setdefault(kind, []).append(row)
    headed = [[[kind, "", ""]] * bool(kind) + listed for kind, listed in kinds.items()]
    return Sheet(
        title="models",
        columns=[Column("model", "text"), Column("source", "text"), Column("parameters")],
        rows=[row for listed in headed for row in listed],
    )
