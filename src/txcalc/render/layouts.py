"""From reports to sheets: a layout is one function, and ``sheets`` names each of them once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from txcalc.exact.quantity import Quantity
from txcalc.render.sheet import Bars, Column, Sheet
from txcalc.report import address as grammar
from txcalc.report.format import binary, cell, decimal, percent, short
from txcalc.report.report import Held, Layout, Report

BAR_WIDTH = 40
_SHARE_NOTE = (
    "share: of the total; within a block, of that block (weights and biases among their kind)"
)


def sheets(reports: Sequence[Report], layout: Layout, *, explain: bool = False) -> list[Sheet]:
    """All models on one sheet, or each on its own where a layout needs the width."""
    if explain and layout != "shapes":  # shapes are formulas already
        return [explained(report, layout) for report in reports]
    match layout:
        case "figures":
            return [figures(reports)]
        case "catalogue":
            return [catalogue(reports)]
        case "shapes":
            return [shapes(report) for report in reports]
        case "tensors":
            return [tensors(report) for report in reports]
        case "steps":
            return [steps(report) for report in reports]


def figures(reports: Sequence[Report]) -> Sheet:
    """One row a figure, one column a model; one model alone also shows shares and exact bytes."""
    shown = [{r.short(address): r.figures[address] for address in r.shown} for r in reports]
    addresses = _merged(shown)
    units = {quantity.unit for of_model in shown for quantity in of_model.values()}
    labels = {r.short(address): label for r in reports for address, label in r.labels.items()}
    alone = reports[0] if len(reports) == 1 else None
    extras = _extras(alone) if alone else {}
    remarks = {alone.short(a): f" ({note})" for a, note in alone.notes.items()} if alone else {}
    rows = [
        [
            labels.get(address, _label(address, addresses)) + remarks.get(address, ""),
            *(_cell(of_model.get(address), with_unit=len(units) > 1) for of_model in shown),
            *(column.get(address, "") for column in extras.values()),
        ]
        for address in addresses
    ]
    return Sheet(
        title=reports[0].title + _unit(units - {reports[0].title}),
        columns=[Column("", "text"), *map(Column, (*(r.model for r in reports), *extras))],
        rows=rows,
        notes=[*_notes(reports), *[_SHARE_NOTE] * ("share" in extras)],
        bars=[bars for report in reports for bars in _bars(report)],
    )


def explained(report: Report, layout: Layout) -> Sheet:
    """One row a figure: in letters, or where that is long in the names of the figures below it."""
    from txcalc.report.explain import brief

    addresses = list(report.tensors) if layout == "tensors" else report.shown
    names = [report.short(address) for address in addresses]
    labels = {report.short(address): label for address, label in report.labels.items()}
    units = {report.figures[address].unit for address in addresses}
    rows = [
        [
            labels.get(name, _label(name, names)),
            brief(report, address),
            cell(report.figures[address], with_unit=len(units) > 1),
        ]
        for address, name in zip(addresses, names, strict=True)
    ]
    return Sheet(
        title=report.title,
        columns=[Column("", "text"), Column("formula", "fitted"), Column(report.model)],
        rows=rows,
        notes=_notes([report]),
        bars=_bars(report),
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
        notes=_notes([report]),
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
        notes=_notes([report]),
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
    """One row a step of generation: both ways in tokens and in FLOPs."""
    prefixes = dict.fromkeys(grammar.parent(grammar.parent(a)) for a in report.shown)
    columns = [(what, way) for what in ("tokens", "flops") for way in ("naive", "cached", "ratio")]
    rows = [
        [_step(prefix), *(short(report.figures[f"{prefix}.{a}.{b}"]) for a, b in columns)]
        for prefix in prefixes
    ]
    headings = ["tokens naive", "cached", "ratio", "FLOPs naive", "cached", "ratio"]
    return Sheet(
        title=f"{report.model}: {report.title}",
        columns=[Column("", "text"), *map(Column, headings)],
        rows=rows,
        notes=_notes([report]),
    )


def _step(prefix: str) -> str:
    step = grammar.below(prefix, "generation")
    return "in all" if step == prefix else step.replace(".", " ").replace("_", " ")


def catalogue(reports: Sequence[Report]) -> Sheet:
    """One row a model, below a row that names its kind."""
    address = "params.total"
    kinds: dict[str, list[list[str]]] = {}
    for report in sorted(reports, key=lambda report: report.notes[address]):
        row = [f"  {report.model}", report.source, cell(report.figures[address])]
        kinds.setdefault(report.notes[address], []).append(row)
    return Sheet(
        title="models",
        columns=[Column("model", "text"), Column("source", "fitted"), Column("parameters")],
        rows=[row for kind, listed in kinds.items() for row in ([kind, "", ""], *listed)],
    )


def _bars(report: Report) -> list[Bars]:
    """The bar picture of a report that has one."""
    if not report.bars:
        return []
    longest = max(bar.length.value for bar in report.bars)
    name = max(len(bar.label) for bar in report.bars)
    lines = [
        f"{bar.label:>{name}} {'█' * max(1, round(BAR_WIDTH * bar.length.value / longest))} "
        f"{binary(bar.length.value)}"
        for bar in report.bars
    ]
    return [Bars(report.model, lines)]


def _notes(reports: Sequence[Report]) -> list[str]:
    """Assumptions, a model's name before those that differ, and conventions."""
    assumed: dict[str, None] = {}
    for report in reports:
        for line in report.assumptions:
            shared = all(line in other.assumptions for other in reports)
            assumed[line if shared else f"{report.model}: {line}"] = None
    first = [f"Assumed: {'; '.join(assumed)}"] if assumed else []
    return [*first, *_merged([report.conventions for report in reports])]


def _extras(report: Report) -> dict[str, dict[str, str]]:
    """Further columns by their headings, each from short addresses to cells."""
    shown = {report.short(address): report.figures[address] for address in report.shown}
    shares = {report.short(address): percent(share) for address, share in report.shares.items()}
    exact = {name: decimal(q.value) for name, q in shown.items() if q.unit == "bytes"}
    return {name: column for name, column in (("share", shares), ("bytes", exact)) if column}


def _unit(units: set[str]) -> str:
    """The only unit of a table, for its title."""
    return f" ({unit})" if len(units) == 1 and (unit := units.pop()) else ""


def _cell(quantity: Quantity | None, *, with_unit: bool) -> str:
    return "-" if quantity is None else cell(quantity, with_unit=with_unit)


def _label(address: str, addresses: Sequence[str]) -> str:
    """What an address adds to the nearest one above it, indented by how many are above."""
    levels, own = grammar.levels(address, addresses)
    return "  " * levels + own.replace("_", " ")


def _merged(lists: Sequence[Iterable[str]]) -> list[str]:
    """All items once, each new one after the item that it follows in its own list."""
    merged: list[str] = []
    for items in lists:
        place = 0
        for item in items:
            if item not in merged:
                merged.insert(place, item)
            place = merged.index(item) + 1
    return merged
