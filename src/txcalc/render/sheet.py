"""Reports laid out: what a table or Markdown prints, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from txcalc.exact.quantity import Quantity, product
from txcalc.report.format import binary, cell, decimal, percent, short
from txcalc.report.report import Held, Layout, Report

BAR_WIDTH = 40
_SHARE_NOTE = [
    "share: of the total; within a block, of that block (weights and biases among their kind)"
]


class Sheet(msgspec.Struct, frozen=True):
    """A titled grid of text, the first column left-aligned, and the notes below it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    notes: list[str]
    left: int = 1
    """How many of the columns are text, aligned to the left."""
    fitted: int | None = None
    """The column that takes what width is left, if it may wrap."""


def sheets(reports: Sequence[Report], layout: Layout, *, explain: bool = False) -> list[Sheet]:
    """All models on one sheet, or each on its own where a layout needs the width."""
    if explain and layout != "shapes":
        from txcalc.render.formulas import explained

        return [explained(r, list(r.tensors if layout == "tensors" else r.shown)) for r in reports]
    match layout:
        case "figures":
            return [side_by_side(reports)]
        case "catalogue":
            return [catalogue(reports)]
        case "shapes":
            return [shapes(report) for report in reports]
        case "tensors":
            return [tensors(report) for report in reports]
        case "steps":
            return [steps(report) for report in reports]


def side_by_side(reports: Sequence[Report]) -> Sheet:
    """One row a figure, one column a model; one model alone also shows shares and exact bytes."""
    figures = [{r.short(a): r.figures[a] for a in r.shown} for r in reports]
    addresses = _union(figures)
    units = {quantity.unit for known in figures for quantity in known.values()}
    labels = {r.short(a): label for r in reports for a, label in r.labels.items()}
    alone = len(reports) == 1
    extras = _extras(reports[0]) if alone else {}
    remarks = {reports[0].short(a): f" ({n})" for a, n in reports[0].notes.items()} if alone else {}
    rows = [
        [
            labels.get(address, label(address, addresses)) + remarks.get(address, ""),
            *(_cell(known.get(address), with_unit=len(units) > 1) for known in figures),
            *(column.get(address, "") for column in extras.values()),
        ]
        for address in addresses
    ]
    title = reports[0].title + _unit_note(units - {reports[0].title})
    columns = ["", *(report.model for report in reports), *extras]
    return Sheet(title, columns, rows, [*notes(reports), *_SHARE_NOTE * ("share" in extras)])


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
    title = f"{report.model}: {report.title}"
    columns = ["point", "shape", "sizes", "stream"]
    return Sheet(title, columns, rows, notes([report]), left=4, fitted=1)


def tensors(report: Report) -> Sheet:
    """One row a weight: its dims, how many of it there are, and what they hold together."""
    rows = [_tensor(report.short(address), held) for address, held in report.tensors.items()]
    rows.append(["total", "", "", "", cell(report.figures["params.total"])])
    title = f"{report.model}: every tensor, dims as out x in"
    return Sheet(
        title, ["tensor", "dims", "sizes", "copies", "count"], rows, notes([report]), left=3
    )


def _tensor(name: str, held: Held) -> list[str]:
    from txcalc.exact.printing import symbolic

    weight = held.weight
    sides = [side for side in (weight.outputs, weight.inputs) if side]
    return [
        name.removeprefix("params."),
        " x ".join("·".join(map(symbolic, side)) for side in sides),
        " x ".join(decimal(product(*side).value) for side in sides),
        cell(product(held.layers, weight.copies)),
        _count(held),
    ]


def _count(held: Held) -> str:
    if held.weight.tied:
        return "tied"
    return (
        "buffer" if held.weight.use == "buffer" else cell(product(held.layers, held.weight.stored))
    )


def steps(report: Report) -> Sheet:
    """One row a step of generation: both ways in tokens and in FLOPs."""
    prefixes = dict.fromkeys(address.rsplit(".", 2)[0] for address in report.shown)
    columns = [(what, way) for what in ("tokens", "flops") for way in ("naive", "cached", "ratio")]
    rows = [
        [_step(prefix), *(short(report.figures[f"{prefix}.{a}.{b}"]) for a, b in columns)]
        for prefix in prefixes
    ]
    heads = ["", "tokens naive", "cached", "ratio", "FLOPs naive", "cached", "ratio"]
    return Sheet(f"{report.model}: {report.title}", heads, rows, notes([report]))


def _step(prefix: str) -> str:
    words = prefix.split(".")[1:] or ["in all"]
    return " ".join(words).replace("_", " ")


def catalogue(reports: Sequence[Report]) -> Sheet:
    """One row a model, below a row that names its kind."""
    address = "params.total"
    kinds: dict[str, list[list[str]]] = {}
    for report in sorted(reports, key=lambda report: report.notes[address]):
        row = [f"  {report.model}", report.source, cell(report.figures[address])]
        kinds.setdefault(report.notes[address], []).append(row)
    rows = [row for kind, listed in kinds.items() for row in ([kind, "", ""], *listed)]
    return Sheet("models", ["model", "source", "parameters"], rows, [], left=2, fitted=1)


def pictures(report: Report) -> list[str]:
    """The bar picture of a report, a line a bar."""
    if not report.bars:
        return []
    longest = max(bar.length.value for bar in report.bars)
    name = max(len(bar.label) for bar in report.bars)
    return [
        f"{bar.label:>{name}} {'█' * max(1, round(BAR_WIDTH * bar.length.value / longest))} "
        f"{binary(bar.length.value)}"
        for bar in report.bars
    ]


def notes(reports: Sequence[Report]) -> list[str]:
    """Assumptions, a model's name before those that differ, and conventions."""
    found: dict[str, None] = {}
    for report in reports:
        for line in report.assumptions:
            shared = all(line in other.assumptions for other in reports)
            found[line if shared else f"{report.model}: {line}"] = None
    assumed = "; ".join(found)
    conventions = _union([report.conventions for report in reports])
    return [f"Assumed: {assumed}"] * bool(assumed) + conventions


def _extras(report: Report) -> dict[str, dict[str, str]]:
    shown = {report.short(address): report.figures[address] for address in report.shown}
    shares = {report.short(address): percent(share) for address, share in report.shares.items()}
    exact = {name: decimal(q.value) for name, q in shown.items() if q.unit == "bytes"}
    return {name: column for name, column in (("share", shares), ("bytes", exact)) if column}


def _unit_note(units: set[str]) -> str:
    return f" ({unit})" if len(units) == 1 and (unit := units.pop()) else ""


def _cell(quantity: Quantity | None, *, with_unit: bool) -> str:
    return "-" if quantity is None else cell(quantity, with_unit=with_unit)


def label(address: str, addresses: Sequence[str]) -> str:
    """What an address adds to the nearest one above it, indented by how many are above."""
    words = address.split(".")
    above = [n for n in range(2, len(words)) if ".".join(words[:n]) in addresses]
    own = " ".join(words[above[-1] if above else 1 :]).replace("_", " ")
    return "  " * len(above) + own


def _union(lists: Sequence[Iterable[str]]) -> list[str]:
    """All items once, each new one after the item that it follows in its own list."""
    merged: list[str] = []
    for items in lists:
        place = 0
        for item in items:
            if item not in merged:
                merged.insert(place, item)
            place = merged.index(item) + 1
    return merged
