"""Whether a model fits on GPUs: how many sequences, how long a context, and what is missing."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import msgspec

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.gpu import NOTHING, Gpu
from txcalc.accounts.memory import ENGINE, LAYOUT
from txcalc.accounts.setting import Setting
from txcalc.errors import OptionError, RefusedError, TxcalcError
from txcalc.exact.quantity import (
    MINUS_ONE,
    ONE,
    ZERO,
    Letter,
    Quantity,
    ceil_div,
    const,
    exact,
    most,
    product,
    total,
)
from txcalc.exact.search import NeverError
from txcalc.exact.solve import first
from txcalc.model.model import Model
from txcalc.report.format import binary, decimal
from txcalc.report.report import Bar, Figures, Report
from txcalc.workload.passes import Workload
from txcalc.workload.question import Question, positive

GIB = 2**30
CONVENTIONS = [
    "budget: what is left on each GPU for caches; of several stages the one that holds fewest",
    "tokens = budget / bytes that one token writes; context: the longest that N requests may have",
    "an engine's activations and graphs are not derived: --overhead (2 to 7 GiB in public logs)",
]
_LABELS = {
    "fit.memory": "memory of each GPU",
    "fit.available": "x utilisation",
    "fit.loaded": "- weights, tables and modules",
    "fit.overhead": "- overhead",
    "fit.budget": "= budget for the cache",
    "fit.needed": "the requests need",
    "fit.sequence": "one request",
    "fit.missing": "missing on each GPU",
    "fit.sequences": "requests at ctx",
    "fit.tokens": "tokens in the cache",
    "fit.context": "longest context",
    "fit.engine.blocks": "the engine's blocks",
    "fit.engine.tokens": "the engine's tokens",
    "fit.engine.sequences": "the engine's requests at ctx",
}
_WAYS = ("fp8-channel", "awq-g128")
"""Schemes of weights that are tried where the requests do not fit."""


def report(model: Model, question: Question) -> Report:
    """Sequences, tokens and context that fit, and what is missing for the requests.

    Raises:
        OptionError: neither a device nor a memory for the cache, or a count that is not the
            layout's.
        RefusedError: a model whose sequences keep nothing that grows.
    """
    question = _on_device(question)
    setting = Setting(model, question)
    setting.refuse_partial()
    setting.refuse_encoder_only("fit")
    fits = [_Fit(setting, stage) for stage in range(question.pp)]
    tightest = min(fits, key=lambda fit: fit.sequences.value)
    figures = tightest.figures()
    return Report(
        title="fit",
        figures=figures,
        shown=[address for address in _LABELS if address in figures],
        labels=_LABELS,
        lead=tightest.verdict() + _ways(setting, tightest),
        bars=[Bar("budget", figures["fit.budget"]), Bar("needed", figures["fit.needed"])],
        assumptions=[
            *kvcache.assumptions(setting, tightest.workload),
            weights.in_format(model, question),
            f"{question.layout.gpus.value} GPUs",
            f"engine {question.engine}",
        ],
        conventions=CONVENTIONS,
        warnings=[
            *weights.warnings(model, question),
            *setting.warnings(tightest.workload.ctx),
            *_too_long(setting, tightest.workload),
        ],
    )


class _Fit:
    """One stage: what a GPU of it has for caches, and what fits there."""

    def __init__(self, setting: Setting, stage: int) -> None:
        self._setting, self._stage = setting, stage
        self._question = setting.question
        self.workload = setting.workload("decode")
        self._one = Gpu(setting, self.workload, stage)
        self._groups = self._question.layout.dp

    @cached_property
    def requests(self) -> Quantity:
        """Requests of each data-parallel group."""
        asked = positive("requests", self._question.requests)
        return asked if self._groups.value == 1 else ceil_div(asked, self._groups)

    @cached_property
    def available(self) -> Quantity:
        """Memory of the device that may be used."""
        device = self._question.device
        assert device is not None
        memory = Letter(device.memory, "memory", unit="bytes", about="memory of one GPU")
        share = Letter(self._question.utilised, "utilisation", about="share of it that is used")
        return product(memory, share) // ONE

    @cached_property
    def budget(self) -> Quantity:
        """Bytes for caches on each GPU; none where the weights alone do not fit."""
        if self._question.kv_memory is not None:
            bytes_ = exact(Fraction(self._question.kv_memory) * GIB)
            return Letter(bytes_, "kv_memory", unit="bytes", about="memory for the cache")
        left = total((self.available, *map(_negative, (self._one.loaded, self.overhead))), "bytes")
        return most(left, NOTHING)

    @property
    def overhead(self) -> Quantity:
        """Bytes that an engine takes beside."""
        bytes_ = exact(Fraction(self._question.overhead) * GIB)
        return Letter(bytes_, "overhead", unit="bytes", about="what an engine takes beside")

    @cached_property
    def sequence(self) -> Quantity:
        """Bytes of one request at ctx on each GPU."""
        return _of_sequences(self._one)

    @cached_property
    def sequences(self) -> Quantity:
        """Requests at ctx that fit, of all groups."""
        if not self.sequence.value:
            name = self._setting.model.name
            raise RefusedError(f"{name}: no fit: no token adds to what a sequence keeps")
        return product(self._groups, self.budget // self.sequence)

    @cached_property
    def context(self) -> Quantity | None:
        """The longest context of the requests; None where any length fits."""

        def sides(ctx: Letter) -> tuple[Quantity, Quantity]:
            longer = Gpu(self._setting, self._setting.workload("decode", ctx), self._stage)
            need = product(self.requests, _of_sequences(longer))
            return need, self.budget // ONE + const(1, "bytes")

        try:
            return first("ctx", sides, "context in tokens") - ONE
        except NeverError:
            return None

    def figures(self) -> Figures:
        """Every figure of the account."""
        needed = product(self.requests, self.sequence)
        figures: Figures = {}
        if self._question.kv_memory is None:
            figures |= {"fit.available": self.available, "fit.loaded": self._one.loaded,
                        "fit.overhead": self.overhead}  # fmt: skip
        figures |= {
            "fit.budget": self.budget,
            "fit.needed": needed,
            "fit.sequence": self.sequence,
            "fit.missing": most(needed - self.budget, NOTHING),
            "fit.sequences": self.sequences,
            "fit.tokens": self._tokens(self.budget),
        }
        if self.context is not None:
            figures["fit.context"] = self.context
        return figures | self._engine()

    def verdict(self) -> list[str]:
        """The answer in a sentence."""
        fit, ctx = self.sequences.value, self.workload.ctx.value
        asked = self._question.requests
        if asked <= fit:
            return [f"{asked:,} requests of {ctx:,} tokens fit; {fit:,} would."]
        short = product(self.requests, self.sequence) - self.budget
        answer = f"{asked:,} requests of {ctx:,} tokens do NOT fit"
        return [f"{answer}: {binary(short.value)} short on each GPU. {fit:,} fit."]

    def _tokens(self, budget: Quantity) -> Quantity:
        """Tokens whose caches a budget holds in the long run."""
        return budget // self._one.token if self._one.token.value else ZERO

    def _engine(self) -> Figures:
        """The pool of an engine that allocates in blocks."""
        engine = self._question.serving
        if engine.name not in ("vllm", "sglang") or not self._one.page.value:
            return {}
        block = product(engine.block, self._one.page)
        blocks = self.budget // block
        of_one = ceil_div(self.sequence, block)
        usable = most(blocks - ONE, ZERO)  # one null block, or a spare page
        return {
            "fit.engine.blocks": blocks,
            "fit.engine.tokens": product(blocks, engine.block),
            "fit.engine.sequences": product(self._groups, usable // of_one),
        }


def _negative(quantity: Quantity) -> Quantity:
    return product(MINUS_ONE, quantity)


def _of_sequences(held: Gpu) -> Quantity:
    return total((*held.cache.values(), held.fixed), "bytes")


def _on_device(question: Question) -> Question:
    """The question about one sequence, with ``--count`` alone as a tensor-parallel group.

    Raises:
        OptionError: no memory is stated, or a count that is not the layout's.
    """
    if question.device is None and question.kv_memory is None:
        raise OptionError("fit needs a --device, or --kv-memory GiB of each GPU for the cache")
    question = msgspec.structs.replace(question, batch=1)
    if question.count is None:
        return question
    if question.tp == question.pp == question.dp == 1:
        question = msgspec.structs.replace(question, tp=question.count)
    gpus = question.layout.gpus.value
    if gpus != question.count:
        raise OptionError(f"--count {question.count}, but the layout has {gpus} GPUs")
    return question


def _ways(setting: Setting, fit: _Fit) -> list[str]:
    """What would make the requests fit, each with its number."""
    question = setting.question
    if question.requests <= fit.sequences.value or question.device is None:
        return []
    changes = [{"weights": scheme} for scheme in _WAYS]
    ways = []
    for change in changes:
        try:
            other = _Fit(Setting(setting.model, msgspec.structs.replace(question, **change)), 0)
            options = " ".join(f"--{name} {value}" for name, value in change.items())
            ways.append(f"with {options}: {other.sequences.value:,} requests")
        except TxcalcError:
            continue
    if fit.context is not None and fit.context.value:
        ways.append(f"with a context of at most {decimal(fit.context.value)} tokens: all of them")
    return ways


def _too_long(setting: Setting, workload: Workload) -> list[str]:
    """A warning where the context is beyond the model's own."""
    own = setting.model.context
    if own is None or workload.ctx.value <= own.value:
        return []
    return [
        f"{setting.model.name}: ctx {workload.ctx.value:,} is beyond its own context, {own.value:,}"
    ]


ACCOUNT = Account(
    reads=(
        "ctx", "requests", "device", "count", "kv_memory", "utilisation", "overhead",
        "source", "dtype", "weights", "kv", "mtp", *LAYOUT, *ENGINE,
    ),
    make=report,
)  # fmt: skip
