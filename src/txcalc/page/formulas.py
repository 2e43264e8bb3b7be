"""Formulas as templates: the printer's text, with marks where letters and figures stand.

``{3}`` is the letter 3 of a table, ``[params.total]`` a figure; neither names nor layout depend on
values, so that a template stays what it is while they change.
"""

from __future__ import annotations

from typing import Any

from txcalc.exact.printing import Printer, names_of
from txcalc.exact.program import Program
from txcalc.exact.quantity import Letter, Quantity, walk
from txcalc.report.explain import meaning


class Letters:
    """The letters of formulas, each name and node once: name, node, meaning and definition."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.table: list[list[Any]] = []
        self._places: dict[tuple[str, int], int] = {}

    def marks(self, root: Quantity) -> dict[int, str]:
        """The mark of each letter of a derivation, by identity."""
        labels = names_of(root, self._program.node)
        new: list[Letter] = []
        marks: dict[int, str] = {}
        for letter in walk(root):
            if isinstance(letter, Letter):
                key = labels[id(letter)], self._program.node(letter)
                if key not in self._places:
                    self._places[key] = len(self.table)
                    self.table.append([*key, meaning(letter), ""])
                    new.append(letter)
                marks[id(letter)] = f"{{{self._places[key]}}}"
        for letter in new:
            if letter.definition is not None:
                place = self._places[labels[id(letter)], self._program.node(letter)]
                printer = Printer(root, names=marks)
                self.table[place][3] = printer.write(letter.definition)[0]
        return marks
