"""Explanations as text for a terminal, or as JSON."""

from __future__ import annotations

import json
from typing import Any

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from txcalc.exact.quantity import is_estimate
from txcalc.render.formulas import symbol_row
from txcalc.render.table import WIDTH, below, capture, plain_table
from txcalc.render.values import raw
from txcalc.render.wrap import wrapped
from txcalc.report.explain import Explanation, Step, Symbol
from txcalc.report.format import binary, cell, decimal

_STEP, _WHERE = 28, 24
"""Widths of the columns that hold addresses and paths."""
LONG = 130
"""Signs of a formula that needs the whole width of a page."""


def as_table(explanation: Explanation) -> str:
    """Formula, numbers and result; steps; letters; conventions."""
    others = explanation.steps[1:]
    parts: list[RenderableType] = [
        Text(f"{explanation.model}  {explanation.address}", style="bold"),
        "",
    ]
    leaves = [s for s in others if s.same_as or (s.is_leaf and len(s.formula) <= LONG)]
    parts += [_written(step) for step in explanation.steps if step not in leaves]
    if leaves:
        parts.append(_steps(leaves))
    parts.append(_letters(explanation.symbols))
    notes = [
        *(f"Source: {source}" for source in explanation.sources),
        *([f"Assumed: {'; '.join(explanation.assumptions)}"] if explanation.assumptions else []),
        *explanation.conventions,
    ]
    return capture(*parts, below(notes), width=WIDTH)


def as_json(explanation: Explanation) -> str:
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


def _step(step: Step) -> dict[str, Any]:
    row = {"address": step.name, **raw(step.quantity), "formula": step.formula}
    same = {"same_as": step.same_as} if step.same_as else {}
    return row | {"substituted": step.substituted} | same


def _written(step: Step) -> Padding:
    """The three lines of a formula: letters or names, numbers, result."""
    sign = "≈" if is_estimate(step.quantity) else "="
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
    grid.add_row("", sign, result.strip())
    return Padding(grid, (0, 0, 1, 2))


def _steps(steps: list[Step]) -> Table:
    table = plain_table(["step", "formula", "value"], 2)
    table.columns[0].no_wrap = True
    values = [cell(step.quantity) for step in steps]
    names = [wrapped(step.name, _STEP) for step in steps]
    taken = max(len(line) for name in names for line in name.split("\n")) + max(map(len, values))
    for step, name, value in zip(steps, names, values, strict=True):
        formula = f"as {step.same_as}" if step.same_as else f"{step.formula}\n{step.substituted}"
        table.add_row(Text(name), Text(wrapped(formula, WIDTH - taken - 10)), Text(value))
    return table


def _letters(symbols: list[Symbol]) -> Table:
    table = plain_table(["letter", "meaning", "from", "value"], 3)
    table.columns[0].no_wrap = table.columns[2].no_wrap = True
    for symbol in symbols:
        told = [symbol.meaning] * bool(symbol.meaning)
        told += [f"= {symbol.formula}"] * bool(symbol.formula)
        table.add_row(
            Text(wrapped(symbol.name, _WHERE)),
            Text("\n".join(told)),
            Text(wrapped(symbol.where, _WHERE)),
            Text(cell(symbol.letter)),
        )
    return table
