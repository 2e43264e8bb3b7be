"""Reports as rows of raw values in base units, the same for JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from txcalc.exact.quantity import Quantity, is_estimate, product
from txcalc.report.format import plain
from txcalc.report.report import Held, Layout, Report, Shape

if TYPE_CHECKING:
    from txcalc.report.explain import Symbol

Row = dict[str, Any]


def rows(report: Report, layout: Layout, *, explain: bool = False) -> Iterator[Row]:
    """Address, value and unit of each row; with ``explain`` its formula and its letters too."""
    match layout:
        case (
            "figures" | "steps" | "catalogue" | "divided" | "budget" | "grid" | "differences"
            | "roofline"
        ):  # fmt: skip
            for address in report.shown:
                row = _figure(report, address)
                is_explained = explain and address in report.figures
                yield row | formula(report.figures[address]) if is_explained else row
        case "tensors":
            for address, held in report.tensors.items():
                row = _figure(report, address) | tensor(held)
                yield row | formula(report.figures[address]) if explain else row
        case "shapes":
            for address, shape in report.shapes.items():
                row = {"address": report.short(address), **_sizes(shape)}
                yield row | _sizes_in_letters(shape) if explain else row


def raw(quantity: Quantity) -> Row:
    """Value and unit in base units, and where it is no integer what it is exactly."""
    value = quantity.value
    if isinstance(value, int):
        return {"value": value, "unit": quantity.unit}
    number = {"value": float(value), "unit": quantity.unit}
    if is_estimate(quantity):
        return number | {"estimate": True}
    return number | {"exact": plain(value, as_fraction=True)}


def formula(quantity: Quantity) -> Row:
    """A figure's formula in letters, the same in numbers, and its letters."""
    from txcalc.exact.printing import substituted, symbolic
    from txcalc.report.explain import symbols

    return {
        "formula": symbolic(quantity),
        "substituted": substituted(quantity),
        "symbols": [symbol_row(symbol) for symbol in symbols(quantity)],
    }


def symbol_row(symbol: Symbol) -> Row:
    """A letter of the legend."""
    row = {"name": symbol.name, **raw(symbol.letter), "meaning": symbol.meaning}
    return row | ({"formula": symbol.formula} if symbol.formula else {}) | {"from": symbol.where}


def tensor(held: Held) -> Row:
    """A weight's dims, how many tensors there are like it, and the elements of all of them."""
    weight = held.weight
    return {
        "dims": [product(*side).value for side in (weight.outputs, weight.inputs) if side],
        "copies": product(held.layers, weight.copies).value,
        "count": product(held.layers, weight.stored).value,
    }


def _figure(report: Report, address: str) -> Row:
    """A figure's value and unit; of one that the model does not have, why."""
    name = {"address": report.short(address)}
    if address not in report.figures:
        return {**name, "value": None, "unit": "", "reason": report.refused[address]}
    return {**name, **raw(report.figures[address])}


def _sizes(shape: Shape) -> Row:
    """The sides of a shape; where one is no integer, as of experts at times idle, exactly too."""
    sizes = [raw(size) for size in shape]
    row = {"value": [size["value"] for size in sizes], "unit": "elements"}
    if not any("exact" in size for size in sizes):
        return row
    return row | {"exact": [size.get("exact", str(size["value"])) for size in sizes]}


def _sizes_in_letters(shape: Shape) -> Row:
    from txcalc.exact.printing import symbolic

    return {"formula": list(map(symbolic, shape))}
