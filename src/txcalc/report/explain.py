"""How a figure came to be: its formula, the steps below it, and what the letters mean.

Everything is read off the derivation that computed the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import get_type_hints

import msgspec

from txcalc.exact.operations import TALLY
from txcalc.exact.printing import Printer, names_of
from txcalc.exact.quantity import Letter, Quantity, same_derivation, walk
from txcalc.exact.solve import evaluations
from txcalc.model.parts.base import Part
from txcalc.report import address as grammar
from txcalc.report.format import decimal, plain
from txcalc.report.report import Report

WIDTH = 60
MAX_TERMS = 4
"""A formula in letters is at most so wide with its numbers, and has at most so many terms."""

_FALLBACK = re.compile(r"; [^;]* where left out$")
_PAPER = re.compile(r"arXiv:[0-9.]+[0-9](?:,? section [0-9.]*[0-9])?")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One figure as a formula of letters, or of the addresses of figures below it."""

    name: str
    formula: str
    substituted: str
    quantity: Quantity
    is_leaf: bool
    same_as: str = ""


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    """A letter of the legend: what it is, its own formula if it is defined, and where it stands."""

    name: str
    letter: Letter
    meaning: str
    formula: str
    where: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A figure's formula, its steps, its legend, and what it agrees on."""

    model: str
    address: str
    steps: list[Step]
    symbols: list[Symbol]
    assumptions: list[str]
    conventions: list[str]
    sources: list[str]

    def __repr__(self) -> str:
        """Each step's formula, numbers and result, then the letters."""
        lines = [f"{self.address} of {self.model}"]
        for step in self.steps:
            result = f"{plain(step.quantity.value, as_fraction=True)} {step.quantity.unit}".rstrip()
            equal = f"as {step.same_as}" if step.same_as else f"{step.formula} = {step.substituted}"
            lines.append(f"  {step.name} = {equal} = {result}")
        for symbol in self.symbols:
            formula = f" = {symbol.formula}" if symbol.formula else ""
            value = plain(symbol.letter.value, as_fraction=True)
            lines.append(f"  {symbol.name}{formula} = {value}: {symbol.meaning}")
        return "\n".join(lines)


def explain(report: Report, address: str, depth: int | None = None) -> Explanation:
    """The explanation of one address.

    A formula whose numbers fill a line is given in the names of the figures below it, which follow
    as steps of their own; ``depth`` says instead how many levels of names there are.

    Raises:
        AddressError: no such figure, or more than one.
        RefusedError: a figure that the model cannot have.
    """
    steps = _Steps(report, address)
    steps.add(address, steps.root, depth)
    return Explanation(
        model=report.model,
        address=address,
        steps=steps.steps,
        symbols=_legend(steps),
        assumptions=report.assumptions,
        conventions=[*report.conventions, *_notation(steps.root)],
        sources=_sources(steps.root),
    )


def brief(report: Report, address: str) -> str:
    """The formula of a figure in letters, or where that is long in the addresses of those below it.

    The addresses are without their first word, as a table of one account has them.
    """
    account = grammar.first(address)
    steps = _Steps(report, address, lambda name: grammar.below(name, account))
    return steps.formula(steps.root)[0]


def top(report: Report, address: str) -> tuple[str, str]:
    """The first step of an explanation alone: the formula, and the same in numbers."""
    steps = _Steps(report, address)
    return steps.formula(steps.root)


def template(
    report: Report,
    address: str,
    names: Callable[[Quantity], dict[int, str]],
    figure: Callable[[str], str],
) -> str:
    """The formula of a figure as it is laid out here, whatever the values become.

    ``names`` are what to call the letters of a derivation, ``figure`` what to call an address.
    """
    return _Steps(report, address, figure, names).formula(report.find(address))[0]


class _Steps:
    """Collects the steps below one figure, each derivation once, under addresses as ``written``."""

    def __init__(
        self,
        report: Report,
        address: str,
        written: Callable[[str], str] = str,
        names: Callable[[Quantity], dict[int, str]] = names_of,
    ) -> None:
        self.root = root = report.find(address)
        self.steps: list[Step] = []
        self._names = names(root)
        self.in_letters = Printer(root, names=self._names)
        self._figures: dict[int, str] = {}
        for name, quantity in {**report.beneath, **report.figures}.items():
            if quantity.op not in ("const", "letter"):
                self._figures.setdefault(id(quantity), written(report.short(name)))

    def add(self, name: str, quantity: Quantity, depth: int | None) -> None:
        """The step of one figure, and those below it."""
        known = next((s for s in self.steps if same_derivation(s.quantity, quantity)), None)
        below = [] if known else self.below(quantity)
        in_letters = self._is_best_in_letters(quantity, below) if depth is None else depth == 0
        if known or in_letters or not below:
            self._append(name, quantity, self.in_letters, same_as=known.name if known else "")
            return
        self._append(name, quantity, self._named(below), is_leaf=False)
        for node in below:
            if self._figures[id(node)] not in {step.name for step in self.steps}:
                self.add(self._figures[id(node)], node, None if depth is None else depth - 1)

    def formula(self, quantity: Quantity) -> tuple[str, str]:
        """A figure in letters or in names, as a line allows; and the same in numbers."""
        below = self.below(quantity)
        best = self._is_best_in_letters(quantity, below)
        return (self.in_letters if best else self._named(below)).write(quantity)

    def _named(self, below: list[Quantity]) -> Printer:
        called = {id(node): self._figures[id(node)] for node in below}
        return Printer(self.root, called, self._names)

    def _is_best_in_letters(self, quantity: Quantity, below: list[Quantity]) -> bool:
        """Whether a formula can be taken in at a glance, or has nothing else to be written in."""
        numbers = self.in_letters.write(quantity)[1]
        is_short = len(numbers) <= WIDTH and len(re.findall(" [-+] ", numbers)) < MAX_TERMS
        return is_short or not below

    def _append(
        self,
        name: str,
        quantity: Quantity,
        printer: Printer,
        *,
        is_leaf: bool = True,
        same_as: str = "",
    ) -> None:
        formula, numbers = printer.write(quantity)
        step = Step(
            name=name,
            formula=formula,
            substituted=numbers,
            quantity=quantity,
            is_leaf=is_leaf,
            same_as=same_as,
        )
        self.steps.append(step)

    def below(self, quantity: Quantity) -> list[Quantity]:
        """The nearest figures that a derivation is made of."""
        nearest: dict[int, Quantity] = {}
        stack = list(reversed(quantity.args))
        while stack:
            node = stack.pop()
            if id(node) in self._figures:
                nearest[id(node)] = node
            else:
                stack.extend(reversed(node.args))
        return list(nearest.values())


def symbols(
    root: Quantity, printer: Printer | None = None, stop: Iterable[Quantity] = ()
) -> list[Symbol]:
    """The legend of a derivation down to ``stop``: its letters in the order of their appearance."""
    printer = printer or Printer(root)
    letters: dict[str, Symbol] = {}
    for letter in walk(root, stop):
        if isinstance(letter, Letter):
            name = printer.names[id(letter)]
            formula = "" if letter.definition is None else printer.write(letter.definition)[0]
            where = letter.origin or ("its formula" if formula else letter.path or "the question")
            letters.setdefault(
                name,
                Symbol(
                    name=name, letter=letter, meaning=meaning(letter), formula=formula, where=where
                ),
            )
    return list(letters.values())


def meaning(letter: Letter) -> str:
    """What a letter stands for, from the metadata of the field that it was read from.

    What holds where the field is left out stands in the letter's own formula.
    """
    if isinstance(letter.about, str):
        return letter.about
    struct, field = letter.about
    hint = get_type_hints(struct, include_extras=True)[field]
    metadata = [m for m in getattr(hint, "__metadata__", ()) if isinstance(m, msgspec.Meta)]
    return _FALLBACK.sub("", next((m.description for m in metadata if m.description), ""))


def _legend(steps: _Steps) -> list[Symbol]:
    """The letters that the formulas of the steps are written in, and those that define them."""
    letters: dict[str, Symbol] = {}
    for step in steps.steps:
        if not step.same_as:
            stop = () if step.is_leaf else steps.below(step.quantity)
            for symbol in symbols(step.quantity, steps.in_letters, stop):
                letters.setdefault(symbol.name, symbol)
    return list(letters.values())


def _notation(root: Quantity) -> list[str]:
    """What a formula writes that is no arithmetic: how it is read, or what proves it."""
    nodes = list(walk(root))
    lines = [line for node in nodes if node.op == "first" for line in _proof(node)]
    if any(node.op is TALLY for node in nodes):
        lines.append("tally(n, 110): how many of the first n digits of 110, repeated, are 1")
    return lines


def _proof(node: Quantity) -> Iterator[str]:
    """A condition where it first holds, and one before."""
    unit = node.args[1].unit
    for letter, number, reached, bound in evaluations(node):
        sign = ">=" if reached >= bound else "<"
        sides = f"{decimal(reached)} {sign} {decimal(bound)} {unit}".rstrip()
        yield f"{letter.name} {decimal(number)}: {sides}"


def _sources(root: Quantity) -> list[str]:
    """The papers of the parts whose letters stand in a derivation."""
    papers: dict[str, None] = {}
    for node in walk(root):
        if not isinstance(node, Letter) or isinstance(node.about, str):
            continue
        part = node.about[0]
        if issubclass(part, Part) and (paper := _PAPER.search(part.__doc__ or "")):
            papers[f"{part.__struct_config__.tag}: {paper.group()}"] = None
    return list(papers)
