"""How fast a prompt and a token can be at best, and what bounds each operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.budget import Budget, with_count
from txcalc.accounts.flops import SCORES
from txcalc.accounts.memory import beyond
from txcalc.accounts.rates import Rates
from txcalc.accounts.setting import ENCODER_ONLY, Setting
from txcalc.accounts.step import Step
from txcalc.accounts.turning import Turning
from txcalc.errors import OptionError
from txcalc.exact.quantity import ONE, Number, Quantity, const, product, total
from txcalc.model.model import Model
from txcalc.report import address as grammar
from txcalc.report.format import binary, decimal
from txcalc.report.report import Bar, Figures, Report
from txcalc.workload.question import Question, positive

CONVENTIONS = [
    "time of an operation = the larger of FLOPs / peak and bytes / bandwidth; of a step the sum",
    "floor = the same of the sums of both, which perfect overlap could reach",
    "at best: no launches, no elementwise work; communication is not overlapped",
    "each moved once: weights, a product's input and output, state; score matrices stay on chip",
    "experts read: their expected number, E(1-(1-k/E)^n)",
    "first token: one prompt alone; a critical batch is that of the ridge",
]
_MILLION = const(10**6, "tokens")
_READS = (
    "device", "count", "prompt", "batch", "ctx", "source", "scores", "logits", "mla", "dtype",
    "weights", "kv", "compute", "link", "efficiency", "mfu", "mbu", "price", "tp", "pp", "dp", "ep",
    "stages", "checkpoint",
)  # fmt: skip


def report(model: Model, question: Question) -> Report:
    """Time of prefill and decode by component, tokens/s, and the turning points of decode.

    Raises:
        OptionError: no device, one without the rates that are asked for, or a batch that leaves
            groups without a sequence.
        RefusedError: a part that a layout cannot divide.
    """
    question = _divided(question)
    setting, rates = Setting(model, question), Rates(question, "roofline")
    setting.refuse_partial()
    prompt = setting.prompt
    prefill = Step(setting, setting.workload("prefill", prompt), rates)
    figures: Figures = {"roofline.ridge": rates.ridge}
    figures |= prefill.figures("roofline.prefill")
    steps, lines = {"prefill": prefill}, [setting.stated(prompt, "prompt")]
    refused: dict[str, str] = {}
    warnings: list[str] = []
    if model.has_decoder:
        decode = Step(setting, setting.workload("decode"), rates)
        steps = {"decode": decode, **steps}
        figures["roofline.prefill.first_token"] = _first_token(setting, prefill, rates)
        figures |= decode.figures("roofline.decode") | _throughput(setting, decode)
        turning, warnings = _turning(setting, decode, rates)
        figures, refused = figures | turning.figures, turning.none
        lines += kvcache.assumptions(setting, decode.workload)
        warnings += beyond(setting, decode.workload.ctx, decode.workload.source)
    else:
        refused = {"roofline.decode": f"no decode: {ENCODER_ONLY}"}
    figures |= _prices(setting, steps)
    return Report(
        title="roofline",
        figures=figures,
        shown=[*figures, *(address for address in refused if address != "roofline.decode")],
        notes=_bounds(steps),
        shares=_shares(figures, steps),
        bars=_bars(figures, steps, model),
        refused=refused,
        assumptions=[*lines, *_assumptions(setting, rates)],
        conventions=[*CONVENTIONS, SCORES[question.scores]],
        warnings=[*weights.warnings(model, question), *warnings],
    )


def _divided(question: Question) -> Question:
    """What is read of a question, with its layout, whose groups all have a sequence."""
    question = with_count(Question(**{name: getattr(question, name) for name in _READS}))
    if question.batch < question.dp:
        raise OptionError(
            f"--batch {question.batch}: at least one sequence for each of --dp {question.dp} groups"
        )
    return question


def _first_token(setting: Setting, prefill: Step, rates: Rates) -> Quantity:
    """Seconds from one prompt, in each group, to its first token."""
    groups = setting.question.dp
    if setting.question.batch == groups:
        return prefill.with_communication
    alone = msgspec.structs.replace(prefill.workload, batch=positive("batch", groups))
    return Step(setting, alone, rates).with_communication


def _throughput(setting: Setting, decode: Step) -> Figures:
    """Tokens a second of one sequence, and of all where each stage has a batch of its own."""
    at = "roofline.decode.tokens_per_s"
    return {
        at: ONE.counted_as("tokens") / decode.with_communication,
        f"{at}.all": setting.batch.counted_as("tokens") / decode.slowest,
    }


def _turning(setting: Setting, decode: Step, rates: Rates) -> tuple[Turning, list[str]]:
    """From where on decode is bound otherwise, and a warning where its sequences do not fit."""
    turning, at = Turning(), "roofline.decode"
    for name, (flops, bytes_) in {
        "critical_batch": decode.run.weights_alone,
        "critical_batch_all": (decode.run.flops, decode.run.bytes),
    }.items():
        if bytes_.value:
            bound = product(rates.ridge, bytes_)
            turning.add(f"{at}.{name}", "batch", flops, bound, lambda part: _tends(part, rates))
    question = setting.question
    ctx = positive("ctx", decode.workload.ctx.value)
    asked = msgspec.structs.replace(question, ctx=ctx.value)
    stages = [Budget(setting.model, asked, stage) for stage in range(question.pp)]
    held = total((w for s in stages for w in s.bound.weights.values()), "bytes")
    caches = total(
        (product(s.bound.caches.sequences, s.bound.caches.sequence) for s in stages), "bytes"
    )
    turning.add(
        f"{at}.cache_context", "ctx", caches, held,
        lambda part: f"caches tend to {binary(part * held.value)} of {binary(held.value)}",
    )  # fmt: skip
    return turning, _not_fitting(setting, stages)


def _tends(part: Number, rates: Rates) -> str:
    return f"tends to {decimal(part * Fraction(rates.ridge.value), 2)} FLOPs/byte"


def _not_fitting(setting: Setting, stages: Sequence[Budget]) -> list[str]:
    """A warning where a device does not hold the weights and the caches of the batch."""
    batch, ctx = setting.question.batch, stages[0].workload.ctx.value
    fitting = min(
        (int(s.sequences.value) for s in stages if s.bound.caches.sequence.value), default=batch
    )
    name = setting.model.name
    if any(stage.left.value < 0 for stage in stages):
        return [f"{name}: the weights alone do not fit: see 'txcalc fit'"]
    if fitting >= batch:
        return []
    return [f"{name}: {batch:,} sequences of {ctx:,} tokens do not fit: {fitting:,} do"]


def _prices(setting: Setting, steps: Mapping[str, Step]) -> Figures:
    """US dollars of a million tokens in and out, where a GPU's hour has a price."""
    question = setting.question
    if question.usd_per_second is None:
        return {}
    second = product(question.layout.gpus, question.usd_per_second)
    figures: Figures = {}
    for phase, step in steps.items():
        tokens = setting.batch if phase == "decode" else product(setting.batch, setting.prompt)
        of_one = step.slowest / tokens.counted_as("tokens")
        figures[f"roofline.{phase}.price"] = product(_MILLION, of_one, second)
    return figures


def _bounds(steps: Mapping[str, Step]) -> dict[str, str]:
    """What binds each component, and each step."""
    notes = {}
    for phase, step in steps.items():
        at = f"roofline.{phase}"
        notes[f"{at}.time"] = step.run.bound
        notes |= {f"{at}.{name}.time": run.bound for name, run in step.run.each.items()}
    return notes


def _shares(figures: Figures, steps: Mapping[str, Step]) -> Figures:
    """The part of each component in the time of its pass."""
    return {
        (address := f"roofline.{phase}.{component}.time"): figures[address]
        / figures[f"roofline.{phase}.time"]
        for phase, step in steps.items()
        for component in step.run.each
    }


def _bars(figures: Figures, steps: Mapping[str, Step], model: Model) -> list[Bar]:
    """A bar of its time for each component of a step, or of a prefill where there is none."""
    phase, step = next(iter(steps.items()))
    kinds = list(model.blocks)
    return [
        Bar(
            _label(grammar.short(f"roofline.{component}", kinds)),
            figures[f"roofline.{phase}.{component}.time"],
        )
        for component in step.run.each
    ]


def _label(address: str) -> str:
    return grammar.below(grammar.below(address, "roofline"), "block").replace(".", " ")


def _assumptions(setting: Setting, rates: Rates) -> list[str]:
    question = setting.question
    gpus, device = question.layout.gpus.value, question.device
    assert device is not None
    lines = [
        f"batch {question.batch}",
        weights.in_format(setting.model, question),
        f"activations {question.dtype}",
        f"{gpus:,} x {device.name}{layout_words(question)}",
        *rates.stated,
    ]
    return [*lines, rates.stated_link] if gpus > question.dp or question.ep else lines


def layout_words(question: Question) -> str:
    """How GPUs divide the model, in parentheses."""
    sizes = [f"{name} {n}" for name in ("tp", "pp", "dp") if (n := getattr(question, name)) > 1]
    words = [*sizes, *["whole experts"] * question.ep]
    return f" ({', '.join(words)})" if words else ""


ACCOUNT = Account(reads=_READS, make=report, layout="roofline")
