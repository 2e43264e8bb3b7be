"""``--explain``: the formula of every row of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from txcalc.exact.printing import substituted, symbolic
from txcalc.exact.quantity import Quantity
from txcalc.render import sheet
from txcalc.report.explain import Symbol, brief, symbols
from txcalc.report.format import cell
from txcalc.report.report import Report


def fields(quantity: Quantity) -> dict[str, Any]:
    """What explaining adds to a row of data."""
    return {
        "formula": symbolic(quantity),
        "substituted": substituted(quantity),
        "symbols": [symbol_row(symbol) for symbol in symbols(quantity)],
    }


def symbol_row(symbol: Symbol) -> dict[str, Any]:
    """A letter of the legend as data."""
    from txcalc.render.values import raw

    row = {"name": symbol.name, **raw(symbol.letter), "meaning": symbol.meaning}
    return row | ({"formula": symbol.formula} if symbol.formula else {}) | {"from": symbol.where}


def explained(report: Report, addresses: Sequence[str]) -> sheet.Sheet:
    """One row a figure: in letters, or where that is long in the names of the figures below it."""
    named = [report.short(address) for address in addresses]
    labels = {report.short(address): label for address, label in report.labels.items()}
    units = {report.figures[address].unit for address in addresses}
    rows = [
        [
            labels.get(name, sheet.label(name, named)),
            brief(report, address),
            cell(report.figures[address], with_unit=len(units) > 1),
        ]
        for address, name in zip(addresses, named, strict=True)
    ]
    columns = ["", "formula", report.model]
    return sheet.Sheet(report.title, columns, rows, sheet.notes([report]), left=2, fitted=1)
