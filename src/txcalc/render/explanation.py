"""Explanations as text for a terminal, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from txcalc.exact.quantity import is_estimate
from txcalc.render.sheet import PAGE, Column, Sheet
from txcalc.render.table import below, capture, drawn, kept, terminal
from txcalc.render.values import Row, raw, symbol_row
from txcalc.render.wrap import wrapped
from txcalc.report.explain import Explanation, Step, Symbol
from txcalc.report.format import cell, decimal, printable_lines, readable

LONG = 130
"""Characters of a formula that needs the whole width of a page."""
_PATH = 24
"""Characters of a line of a path, which is read piece by piece."""
_INDENT, _LEAST = 2, 32
"""Characters before the name of a formula, and the least that it has to leave for it."""


def explanation_table(explanation: Explanation) -> str:
    """Formula, numbers and result; steps; letters; conventions."""
    width = terminal() or PAGE
    others = explanation.steps[1:]
    rows = [s for s in others if s.same_as or (s.is_leaf and len(s.formula) <= LONG)]
    parts: list[RenderableType] = [
        Text(f"{explanation.model}  {explanation.address}", style="bold"),
        "",
        *(kept(_written(step, width)) for step in explanation.steps if step not in rows),
        *(drawn(_steps(rows)) if rows else []),
        *drawn(_letters(explanation.symbols)),
        below(_notes(explanation)),
    ]
    return capture(*parts, width=PAGE)


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
    return printable_lines(json.dumps(answer, ensure_ascii=False, indent=2)) + "\n"


def _step(step: Step) -> Row:
    row = {"address": step.name, **raw(step.quantity), "formula": step.formula}
    same = {"same_as": step.same_as} if step.same_as else {}
    return row | {"substituted": step.substituted} | same


def _written(step: Step, width: int) -> str:
    """The lines of a formula, as letters or names, as numbers and as a result; and a blank one.

    A name that leaves a formula little room stands in a line of its own.
    """
    lines, before = [], " " * _INDENT + step.name + " "
    if width - cell_len(before) < _LEAST:
        lines, before = wrapped(before.rstrip(), width).split("\n"), " " * 2 * _INDENT
    room = width - cell_len(before) - 2
    for sign, text in _equations(step, room):
        first, *others = wrapped(text, room).split("\n")
        lines.append(f"{before}{sign} {first}")
        before = " " * cell_len(before)
        lines += [f"{before}  {line}" for line in others]
    return "\n".join([*lines, ""])


def _equations(step: Step, room: int) -> Iterator[tuple[str, str]]:
    """Letters, numbers, and the result: all digits, and the form in which a long one is read."""
    yield "=", step.formula
    quantity = step.quantity
    if step.substituted != str(quantity.value):
        yield "=", step.substituted
    result = f"{decimal(quantity.value)} {quantity.unit}".rstrip()
    short = readable(quantity)
    both = f"{result} = {short}" if short else result
    yield ("≈" if is_estimate(quantity) else "="), both if cell_len(both) <= room else result
    if cell_len(both) > room and short:
        yield "=", short


def _steps(steps: list[Step]) -> Sheet:
    formulas = [
        f"as {step.same_as}" if step.same_as else f"{step.formula}\n{step.substituted}"
        for step in steps
    ]
    return Sheet(
        columns=[Column("step", "fitted"), Column("formula", "fitted"), Column("value")],
        rows=[
            [step.name, formula, cell(step.quantity)]
            for step, formula in zip(steps, formulas, strict=True)
        ],
    )


def _letters(symbols: list[Symbol]) -> Sheet:
    headings = [Column("letter", "fitted"), Column("meaning", "fitted"), Column("from", "fitted")]
    return Sheet(
        columns=[*headings, Column("value")],
        rows=[
            [
                symbol.name,
                "\n".join(filter(None, [symbol.meaning, symbol.formula and f"= {symbol.formula}"])),
                wrapped(symbol.where, _PATH),
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
