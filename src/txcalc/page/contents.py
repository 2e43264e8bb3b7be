"""A model as the data of a page: its program, figures, formulas, sliders and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

import msgspec

from txcalc.accounts import registry
from txcalc.accounts.setting import Setting
from txcalc.errors import RefusedError
from txcalc.exact.condition import Condition
from txcalc.exact.program import Program
from txcalc.exact.quantity import Quantity, is_estimate
from txcalc.model.model import Model
from txcalc.page.charts import charts
from txcalc.page.formulas import Letters
from txcalc.page.sliders import Slider, sliders
from txcalc.report import address as grammar
from txcalc.report.explain import template
from txcalc.report.report import Report
from txcalc.sources import edits
from txcalc.sources.loading import built, read
from txcalc.workload.passes import Phase
from txcalc.workload.question import LETTERS, PROMPT, Question

ACCOUNTS = (
    "params", "flops", "kvcache", "weights", "intensity", "concurrency", "generation", "memory",
    "dims",
)  # fmt: skip
"""The accounts of a page; a phase of flops is one of its own."""
LEFT_OUT = ("generation.after", "memory.gpu.step", "memory.total.step", "memory.stages")
"""Figures whose derivation depends on values: the steps to show, the widest of some outputs."""
CONTEXT = 2048
"""Tokens where a model states no context of its own."""


class Asked(msgspec.Struct, frozen=True):
    """One account as a page asks it; ``phase`` is given where several are asked."""

    account: str
    phase: str
    report: Report


def contents(
    name: str, changes: Sequence[str] = (), *, type_: str | None = None, strict: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """The data of one model, and what a reader may have to know of how it was read.

    Raises:
        TxcalcError: whatever the model is refused for.
    """
    tree, file, warnings = read(name, type_=type_, strict=strict)
    model = built(tree, file, changes)
    changed = edits.apply(tree, file, edits.parse_edits(changes)).tree
    given = {"name": name, "called": model.name, "source": model.source, "changes": [*changes]}
    made = _Contents(model, question_of(model), sliders(model, changed, file))
    return given | made.data(), [*warnings, *model.warnings]


def question_of(model: Model, **options: Any) -> Question:
    """The question that a page begins with, everything in it given."""
    ctx = CONTEXT if model.context is None else int(model.context.value)
    given = {"ctx": ctx, "prompt": PROMPT, **options}
    if model.has_encoder and model.has_decoder:
        own = model.stacks["encoder"].length
        given.setdefault("source", given["ctx"] if own is None else int(own.value))
    return Question(**given)


def asked(model: Model, question: Question) -> Iterator[Asked]:
    """The accounts that a model has an answer to."""
    for account in ACCOUNTS:
        phases: Iterable[Phase] = get_args(Phase) if account == "flops" else ("token",)
        for phase in phases:
            try:
                report = registry.account(
                    account, model, msgspec.structs.replace(question, phase=phase)
                )
            except RefusedError:
                continue
            yield Asked(account, phase if account == "flops" else "", report)


def figures_of(one: Asked) -> dict[str, Quantity]:
    """The figures of an account that a page has."""
    return {
        address: figure
        for address, figure in one.report.figures.items()
        if grammar.first(address) == one.account and not address.startswith(LEFT_OUT)
    }


class _Contents:
    """Collects what a page knows of one model."""

    def __init__(self, model: Model, question: Question, moved: Sequence[Slider]) -> None:
        self._model, self._question, self._sliders = model, question, moved
        self._names = {path: slider.name for slider in moved for path in slider.paths}
        self._program = Program(
            lambda letter: self._names.get(letter.path, letter.path) or letter.name
        )
        self._letters = Letters(self._program)
        self._asked = list(asked(model, question))

    def data(self) -> dict[str, Any]:
        """All of it; the nodes come last, once everything has asked for its own."""
        figures = [row for one in self._asked for row in self._figures(one)]
        conditions = [self._condition("", each) for each in self._model.conditions]
        conditions += [
            self._condition(one.account, each)
            for one in self._asked
            for each in one.report.conditions
        ]
        drawn = charts(self._model, self._question, self._program.node)
        moved = [
            [slider.name, slider.letter.name, slider.meaning, str(slider.letter.value)]
            for slider in self._sliders
        ]
        return {
            "question": self._options(),
            "context": None if self._model.context is None else str(self._model.context.value),
            "sliders": moved,
            "figures": figures,
            "letters": self._letters.table,
            "conditions": conditions,
            "limits": list(self._limits()),
            "charts": drawn,
            "inputs": [[key, str(value)] for key, value in self._program.inputs.items()],
            "nodes": self._program.nodes,
        }

    def _options(self) -> dict[str, str]:
        """The letters of the question that figures of the model depend on."""
        read = {option for one in self._asked for option in registry.declared(one.account).reads}
        options = {name: getattr(self._question, name) for name in LETTERS if name in read}
        return {name: str(value) for name, value in options.items() if value is not None}

    def _figures(self, one: Asked) -> Iterator[list[Any]]:
        """Address, phase, unit, node, formula, whether it is an estimate and only on the way."""
        figures = figures_of(one)
        below = {a: q for a, q in one.report.beneath.items() if a not in one.report.figures}
        report = msgspec.structs.replace(one.report, figures=figures | below, beneath={})
        for address, quantity in (figures | below).items():
            formula = template(report, address, self._letters.marks, "[{}]".format)
            node = self._program.node(quantity)
            yield [
                report.short(address), one.phase, quantity.unit, node, formula,
                int(is_estimate(quantity)), int(address in below),
            ]  # fmt: skip

    def _condition(self, account: str, condition: Condition) -> list[Any]:
        """Relation, both sides, what is wrong and where, and whose figures it takes away."""
        a, b = self._program.node(condition.a), self._program.node(condition.b)
        return [condition.relation, a, b, condition.message, condition.where, account]

    def _limits(self) -> Iterator[list[Any]]:
        """The lengths beyond which accounts warn."""
        setting = Setting(self._model, self._question)
        if not self._model.has_decoder:
            lengths = {"flops": setting.ctx, "intensity": setting.prompt}
        else:
            lengths = dict.fromkeys(("flops", "kvcache", "concurrency", "memory"), setting.ctx)
            lengths |= {"intensity": setting.prompt}
        for account, length in lengths.items():
            for limit in setting.limits(length, setting.source(length)):
                yield self._condition(account, limit)
