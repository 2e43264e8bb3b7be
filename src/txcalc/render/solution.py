"""The least number at which a condition holds, with what proves it."""

from __future__ import annotations

import json

from txcalc.exact.quantity import const
from txcalc.render.sheet import Column, Sheet
from txcalc.render.table import capture, drawn
from txcalc.render.values import Row, raw
from txcalc.report.format import cell, decimal, printable_lines
from txcalc.sweeps.solving import Solution


def solution_table(solution: Solution) -> str:
    """The verdict in a sentence, and below it both sides at the number and at the one before."""
    rows = [
        [
            f"{solution.letter} {n:,}",
            *(cell(side, with_unit=True) for side in sides),
            "holds" if n == solution.least else "does not hold",
        ]
        for n, sides in solution.sides.items()
    ]
    left, right = solution.sides_written
    notes = [f"Assumed: {'; '.join(solution.assumptions)}"] if solution.assumptions else []
    columns = [Column("", "text"), Column(left), Column(right), Column("", "word")]
    sheet = Sheet(
        title=solution.model,
        lead=[_sentence(solution)],
        columns=columns,
        rows=rows,
        notes=[*notes, _checked(solution)],
    )
    return capture(*drawn(sheet))


def solution_json(solution: Solution) -> str:
    """The same as an object; a number that there is not is null, with the reason."""
    answer: Row = {
        "model": solution.model,
        "condition": solution.condition,
        "for": solution.letter,
        "value": solution.least,
    }
    if solution.least is None:
        answer["reason"] = _never(solution)
    answer["sides"] = [
        {solution.letter: n, "left": raw(left), "right": raw(right)}
        for n, (left, right) in solution.sides.items()
    ]
    answer |= {"checked": solution.checked, "assumptions": solution.assumptions}
    answer["warnings"] = solution.warnings
    return printable_lines(json.dumps(answer, ensure_ascii=False, indent=2)) + "\n"


def _sentence(solution: Solution) -> str:
    if solution.least is None:
        return f"{solution.condition}: {_never(solution)}"
    return f"{solution.condition} from {solution.letter} {decimal(solution.least)} on"


def _never(solution: Solution) -> str:
    assert solution.limit is not None
    left, right = solution.sides_written
    if solution.is_flipped:
        left, right = right, left
    return f"never: {left} over {right} tends to {cell(const(solution.limit))}"


def _checked(solution: Solution) -> str:
    seen = "nowhere" if solution.least is None else "from there on, and nowhere before"
    return f"at {solution.checked} numbers from 1 to 10^15 that were tried it holds {seen}"
