"""The letters of a model: every dimension that it has, by name and by path."""

from __future__ import annotations

from txcalc.accounts.account import Account
from txcalc.exact.quantity import Letter
from txcalc.model.model import Model
from txcalc.report.report import Figures, Report
from txcalc.workload.question import Question


def report(model: Model, question: Question) -> Report:
    """``dims.NAME`` where all letters of a name agree, ``dims.PATH`` for each.

    Beside a text model the letters of towers go by their paths alone.
    """
    letters = dict(model.dims)
    towers = (tower.layers for tower in model.towers.values() if tower.layers is not None)
    for stack in (*model.stacks.values(), *towers):
        for count in stack.counts.values():
            if isinstance(count, Letter):
                letters[count.path] = count
    by_name: dict[str, list[Letter]] = {}
    for path, letter in letters.items():
        if not (model.stacks and path.startswith("towers.")):
            by_name.setdefault(letter.name, []).append(letter)
    agreed: Figures = {
        f"dims.{name}": same[0] for name, same in by_name.items() if len(set(same)) == 1
    }
    differing = {
        f"dims.{name}": "several values: name one of "
        + ", ".join(f"dims.{path}" for path, letter in letters.items() if letter.name == name)
        for name in by_name
        if f"dims.{name}" not in agreed
    }
    return Report(
        title="dimensions",
        figures=agreed | {f"dims.{path}": letter for path, letter in letters.items()},
        shown=list(agreed),
        ambiguous=differing,
    )


ACCOUNT = Account(reads=(), make=report)
