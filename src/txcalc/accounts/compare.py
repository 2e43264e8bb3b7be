"""Models side by side: what they hold, cost and keep, and on a device what fits and how fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from txcalc.accounts import fit, flops, kvcache, memory, params, roofline, weights
from txcalc.accounts.account import Account
from txcalc.accounts.budget import with_count
from txcalc.accounts.rates import Rates
from txcalc.accounts.roofline import layout_words
from txcalc.accounts.setting import OWN
from txcalc.errors import TxcalcError
from txcalc.model.model import Model
from txcalc.report.format import binary
from txcalc.report.report import Figures, Report
from txcalc.workload.chosen import is_own
from txcalc.workload.question import Question

CONVENTIONS = [
    "1 multiply-add = 2 FLOPs; memory and times are lower bounds, as in fit and roofline",
]
_READS = (
    "ctx", "batch", "source", "dtype", "weights", "kv", "device", "count", "tp", "pp", "dp",
    "ep", "stages", "engine", "utilisation", "compute", "checkpoint", "link",
)  # fmt: skip
_LABELS = {
    "params.total": "total",
    "params.active": "active",
    "flops.total": "a token in decode",
    "kvcache.token": "cache of a token",
    "kvcache.sequence": "cache at ctx",
    "memory.gpu.weights": "weights on each GPU",
    "fit.sequences": "sequences at ctx",
    "fit.engine.sequences": "sequences in the engine",
}
_ONE, _ALL = "compare.time.one", "compare.time.batch"
_TIME = "roofline.decode.time_with_communication"
_MOST = ("fit.sequences", "fit.engine.sequences")
"""Figures of which more is better."""

Answer = Callable[[Model, Question], Report]


def report(model: Model, question: Question) -> Report:
    """The main figures of a model, those of a device where one is given.

    Raises:
        OptionError: options that no model can have.
    """
    asked = with_count(Question(**{name: getattr(question, name) for name in _READS}))
    if is_own(asked.weights) and model.stored is None:
        asked = msgspec.structs.replace(asked, weights=None)
    own = _Compared(model, asked)
    own.ask(params.report, ["params.total", "params.active"])
    own.ask(flops.report, ["flops.total"], phase="decode", batch=1)
    own.ask(kvcache.report, ["kvcache.token", "kvcache.sequence"])
    own.ask(memory.report, ["memory.gpu.weights"])
    labels = dict(_LABELS)
    if asked.device is not None:
        labels |= _on_device(own, asked)
    shown = [address for address in labels if address in own.figures or address in own.none]
    return Report(
        title="side by side",
        figures=own.figures,
        shown=shown,
        labels=labels,
        best={a: "most" if a in _MOST else "least" for a in shown if a != "params.total"},
        refused=own.none,
        assumptions=_assumptions(model, asked),
        conventions=CONVENTIONS,
        warnings=list(own.warnings),
    )


def _on_device(own: _Compared, question: Question) -> dict[str, str]:
    """What fits on a device and how fast it is; the labels of times."""
    engine = [] if question.engine == "none" else ["fit.engine.sequences"]
    own.ask(fit.report, ["fit.sequences", *engine])
    labels = {_ONE: "time of a token, batch 1"}
    if question.dp == 1:
        own.ask(roofline.report, [_ONE], _TIME, batch=1)
    if question.batch > 1:
        labels[_ALL] = f"time of a token, batch {question.batch:,}"
        own.ask(roofline.report, [_ALL], _TIME)
    return labels


class _Compared:
    """One model: its figures, and why it lacks others."""

    def __init__(self, model: Model, question: Question) -> None:
        self._model, self._question = model, question
        self.figures: Figures = {}
        self.none: dict[str, str] = {}
        self.warnings: dict[str, None] = {}
        self._short = ""

    def ask(self, answer: Answer, names: Sequence[str], of: str = "", **asked: object) -> None:
        """Figures of an account by their addresses; one figure ``of`` it under another name."""
        if self._short and of:
            self.none |= dict.fromkeys(names, self._short)
            return
        try:
            made = answer(self._model, msgspec.structs.replace(self._question, **asked))
        except TxcalcError as refusal:
            why = str(refusal).removeprefix(f"{self._model.name}: ")
            self.none |= dict.fromkeys(names, why)
            return
        if "fit.loaded" in made.figures:
            self._short = _missing(made)
        if self._short:
            self.none |= dict.fromkeys(names, self._short)
        else:
            self.figures |= {name: made.find(of or name) for name in names}
        if "fit.loaded" not in made.figures:  # it warns of its longest context, which is no row
            self.warnings |= dict.fromkeys(made.warnings)


def _assumptions(model: Model, question: Question) -> list[str]:
    """Context, formats and device in words."""
    ctx = question.ctx or (None if model.context is None else model.context.value)
    lines = [] if ctx is None else [f"ctx {ctx:,}{OWN if question.ctx is None else ''}"]
    lines += [f"cache {question.kv or question.dtype}", weights.in_format(model, question)]
    if question.device is None:
        return lines
    gpus = f"{question.layout.gpus.value:,} x {question.device.name}{layout_words(question)}"
    return [*lines, gpus, *Rates(question, "compare").stated, f"engine {question.engine}"]


def _missing(made: Report) -> str:
    """How many bytes a GPU lacks for the weights alone."""
    loaded, available = (made.figures[f"fit.{what}"].value for what in ("loaded", "available"))
    if loaded <= available:
        return ""
    return f"weights need {binary(loaded - available)} more than each GPU's {binary(available)}"


ACCOUNT = Account(reads=_READS, make=report)
