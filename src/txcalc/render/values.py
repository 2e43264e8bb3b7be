"""Reports as rows of raw values, the same for JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from txcalc.exact.quantity import Quantity, is_estimate, product
from txcalc.report.format import plain
from txcalc.report.report import Layout, Report


def rows(report: Report, layout: Layout, *, explain: bool = False) -> Iterator[dict[str, Any]]:
    """Address, value and unit of each row; with ``explain`` its formula and its letters too."""
    for address, row in _rows(report, layout):
        yield row | _explained(report, address) if explain else row


def _explained(report: Report, address: str) -> dict[str, Any]:
    from txcalc.exact.printing import symbolic
    from txcalc.render.formulas import fields

    if address in report.figures:
        return fields(report.figures[address])
    return {"formula": list(map(symbolic, report.shapes[address]))}


def _rows(report: Report, layout: Layout) -> Iterator[tuple[str, dict[str, Any]]]:
    """Address, value and unit; integers as integers, others also as n/d."""
    match layout:
        case "shapes":
            for address, shape in report.shapes.items():
                sizes = [size.value for size in shape]
                yield (
                    address,
                    {"address": report.short(address), "value": sizes, "unit": "elements"},
                )
        case "tensors":
            for address, held in report.tensors.items():
                sides = [side for side in (held.weight.outputs, held.weight.inputs) if side]
                yield (
                    address,
                    {
                        **_row(report.short(address), report.figures[address]),
                        "dims": [product(*side).value for side in sides],
                        "copies": product(held.layers, held.weight.copies).value,
                        "count": product(held.layers, held.weight.stored).value,
                    },
                )
        case _:
            for address in report.shown:
                yield address, _row(report.short(address), report.figures[address])


def raw(quantity: Quantity) -> dict[str, Any]:
    """Value and unit in base units, and where it is no integer what it is exactly."""
    value = quantity.value
    if isinstance(value, int):
        return {"value": value, "unit": quantity.unit}
    number = {"value": float(value), "unit": quantity.unit}
    if is_estimate(quantity):
        return number | {"estimate": True}
    return number | {"exact": plain(value, as_fraction=True)}


def _row(address: str, quantity: Quantity) -> dict[str, Any]:
    return {"address": address, **raw(quantity)}
