"""Explanations as text for a terminal, or as JSON."""

from __future__ import annotations

import json

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from txcalc.exact.quantity import is_estimate
from txcalc.render.sheet import Column, Sheet
from txcalc.render.table import WIDTH, below, capture, drawn
from txcalc.render.values import Row, raw, symbol_row
from txcalc.render.wrap import wrapped
from txcalc.report.explain import Explanation, Step, Symbol
from txcalc.report.format import binary, cell, decimal

_STEP, _WHERE = 28, 24
"""Widths of the columns that hold addresses and paths."""
LONG = 130
"""Characters of a formula that needs the whole width of a page."""


def explanation_table(explanation: Explanation) -> str:
    """Formula, numbers and result; steps; letters; conventions."""
    others = explanation.steps[1:]
    rows = [s for s in others if s.same_as or (s.is_leaf and len(s.formula) <= LONG)]
    parts: list[RenderableType] = [
        Text(f"{explanation.model}  {explanation.address}", style="bold"),
        "",
        *(_written(step) for step in explanation.steps if step not in rows),
        *(drawn(_steps(rows)) if rows else []),
        *drawn(_letters(explanation.symbols)),
        below(_notes(explanation)),
    ]
    return capture(*parts, width=WIDTH)


def explanation_json(explanation: Explanation) -> str:
    """The same as an object with formula, substituted and symbols."""
    top, *steps = explanation.steps
    answer = {
        "model": explanation.model,
        **_step(top),
        "steps": [_step(step) for step in steps],
        "symbols": [symbol_row(symbol) for symbol in explanation.symbols],
        "assumptions": explanation.assumptions,
        "conventions": explanation.conventions,
        "sources": explanation.sources,
    }
    return json.dumps(answer, ensure_ascii=False, indent=2) + "\n"


def _step(step: Step) -> Row:
    row = {"address": step.name, **raw(step.quantity), "formula": step.formula}
    same = {"same_as": step.same_as} if step.same_as else {}
    return row | {"substituted": step.substituted} | same


def _written(step: Step) -> Padding:
    """The three lines of a formula: letters or names, numbers, result."""
    equals = "≈" if is_estimate(step.quantity) else "="
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column()
    grid.add_column(overflow="fold")
    exact = decimal(step.quantity.value)
    unit = step.quantity.unit
    result = (
        f"{exact} {unit} = {binary(step.quantity.value)}" if unit == "bytes" else f"{exact} {unit}"
    )
    width = WIDTH - cell_len(step.name) - 6
    grid.add_row(step.name, "=", wrapped(step.formula, width))
    if step.substituted != str(step.quantity.value):
        grid.add_row("", "=", wrapped(step.substituted, width))
    grid.add_row("", equals, result.strip())
    return Padding(grid, (0, 0, 1, 2))


def _steps(steps: list[Step]) -> Sheet:
    values = [cell(step.quantity) for step in steps]
    names = [wrapped(step.name, _STEP) for step in steps]
    taken = max(len(line) for name in names for line in name.split("\n")) + max(map(len, values))
    formulas = [
        f"as {step.same_as}" if step.same_as else f"{step.formula}\n{step.substituted}"
        for step in steps
    ]
    width = WIDTH - taken - 10
    return Sheet(
        columns=[Column("step", "word"), Column("formula", "text"), Column("value")],
        rows=[
            [name, wrapped(formula, width), value]
            for name, formula, value in zip(names, formulas, values, strict=True)
        ],
    )


def _letters(symbols: list[Symbol]) -> Sheet:
    headings = [Column("letter", "word"), Column("meaning", "text"), Column("from", "word")]
    return Sheet(
        columns=[*headings, Column("value")],
        rows=[
            [
                wrapped(symbol.name, _WHERE),
                "\n".join(filter(None, [symbol.meaning, symbol.formula and f"= {symbol.formula}"])),
                wrapped(symbol.where, _WHERE),
                cell(symbol.letter),
            ]
            for symbol in symbols
        ],
    )


def _notes(explanation: Explanation) -> list[str]:
    assumed = "; ".join(explanation.assumptions)
    return [
        *(f"Source: {source}" for source in explanation.sources),
        *([f"Assumed: {assumed}"] if assumed else []),
        *explanation.conventions,
    ]
