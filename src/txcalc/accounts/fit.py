"""Whether a model fits on GPUs: how many sequences, how long a context, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.budget import Budget
from txcalc.accounts.memory import ENGINE, LAYOUT, beyond
from txcalc.accounts.setting import Setting
from txcalc.errors import OptionError, RefusedError, TxcalcError
from txcalc.model.model import Model
from txcalc.report.format import binary, decimal
from txcalc.report.report import Bar, Figures, Report
from txcalc.workload.question import Question

CONVENTIONS = [
    "of several stages the one that holds fewest; tokens = budget / bytes that one token writes",
    "an engine's activations and graphs are not derived: --overhead (2.1 to 7.4 GiB in logs)",
]
_RULES = {
    "none": "the architecture's bound: no engine holds more",
    "vllm": "vllm: whole blocks, one of them null; a window holds a step's tokens too; "
    "layers of several kinds have pages of the largest",
    "sglang": "sglang: whole pages, a spare one beyond the pool; "
    "layers of several kinds have pages of the largest",
    "llamacpp": "llamacpp: cells in multiples of 256; a window holds a ubatch too; "
    "the token table stays on the host",
}
"""Why an engine's figures differ from the bound."""
_WAYS = ("fp8-channel", "awq-g128")
"""Schemes of weights that are tried where the requests do not fit."""
_MOST = 1024
"""GPUs that are tried at most."""


def report(model: Model, question: Question) -> Report:
    """Sequences, tokens and context that fit, and what is missing for the requests.

    Raises:
        OptionError: neither a device nor a memory for the cache, or options that contradict
            each other.
        RefusedError: a model whose sequences keep nothing.
    """
    question = _on_device(question)
    setting = Setting(model, question)
    setting.refuse_partial()
    setting.refuse_encoder_only("fit")
    figures, tightest = _fitted(model, question)
    workload = tightest.workload
    labels = _labels(question)
    return Report(
        title="fit",
        figures=figures,
        shown=[address for address in labels if address in figures],
        labels=labels,
        lead=[_verdict(question, figures, tightest), *_ways(model, question, figures)],
        bars=[Bar("budget", figures["fit.budget"]), Bar("needed", figures["fit.needed"])],
        assumptions=[
            *kvcache.assumptions(setting, workload),
            weights.in_format(model, question),
            _gpus(int(question.layout.gpus.value)),
            f"engine {question.engine}",
        ],
        conventions=[*CONVENTIONS, _RULES[question.engine]],
        warnings=[
            *weights.warnings(model, question),
            *beyond(setting, workload.ctx, workload.source),
        ],
    )


def _on_device(question: Question) -> Question:
    """The question about one sequence, with ``--count`` alone as a tensor-parallel group."""
    if question.device is None and question.kv_memory is None:
        raise OptionError("fit needs a --device, or --kv-memory GiB of each GPU for the cache")
    if question.kv_memory is not None:
        beside = {"device": question.device, "utilisation": question.utilisation}
        beside["overhead"] = question.overhead if question.overhead != "0" else None
        for name, value in beside.items():
            if value is not None:
                raise OptionError(
                    f"--kv-memory is what is left for the cache: --{name} cannot stand beside it"
                )
    question = msgspec.structs.replace(question, batch=1)
    if question.count is None:
        return question
    if question.tp == question.pp == question.dp == 1:
        question = msgspec.structs.replace(question, tp=question.count)
    gpus = question.layout.gpus.value
    if gpus != question.count:
        raise OptionError(
            f"--count {question.count}, but the layout has {gpus} GPUs: tp x pp x dp = count"
        )
    return question


def _fitted(model: Model, question: Question) -> tuple[Figures, Budget]:
    """All figures, the least of all stages each, and the stage that holds fewest requests."""
    stages = [Budget(model, question, stage) for stage in range(question.pp)]
    answers = [(stage, stage.answers()) for stage in stages]
    holding = [(stage, of_stage) for stage, of_stage in answers if of_stage]
    if not holding:
        raise RefusedError(f"{model.name}: no fit: its sequences keep nothing between steps")
    tightest, _ = min(
        holding, key=lambda each: (each[1]["fit.sequences"].value, -each[0].missing.value)
    )
    figures = tightest.subtraction()
    for name in dict.fromkeys(name for _, of_stage in holding for name in of_stage):
        each = (of_stage[name] for _, of_stage in holding if name in of_stage)
        figures[name] = min(each, key=lambda quantity: quantity.value)
    figures["fit.missing"] = max((s.missing for s in stages), key=lambda missing: missing.value)
    return figures, tightest


def _labels(question: Question) -> dict[str, str]:
    """What the rows are called, in their order."""
    device, engine = question.device, question.engine
    seen = "nominal" if device is not None and device.nominal else "as a program sees it"
    return {
        "fit.memory": f"memory of each GPU, {seen}",
        "fit.available": f"x utilisation {float(question.utilised):g}",
        "fit.loaded": "- weights, RoPE tables, modules",
        "fit.overhead": "- overhead (--overhead)",
        "fit.budget": "= budget for the cache",
        "fit.needed": f"  for {_requests(question.requests)}",
        "fit.sequence": "  one request",
        "fit.token": "  one token",
        "fit.missing": "missing on each GPU",
        "fit.sequences": "requests at ctx",
        "fit.engine.sequences": f"  in {engine}",
        "fit.tokens": "tokens in the cache",
        "fit.engine.tokens": f"  in {engine}",
        "fit.engine.blocks": f"  blocks of {question.block_size}",
        "fit.context": f"longest context of {_requests(question.requests)}",
        "fit.engine.context": f"  in {engine}",
    }


def _verdict(question: Question, figures: Figures, tightest: Budget) -> str:
    """The answer in a sentence."""
    asked = f"{_requests(question.requests)} of {tightest.workload.ctx.value:,} tokens"
    fit, missing = _fitting(question, figures), figures["fit.missing"].value
    verb = "fits" if question.requests == 1 else "fit"
    if not missing:
        return f"{asked} {verb}; {fit} would."
    if tightest.left.value < 0:
        short = binary(-tightest.left.value)
        return f"The weights alone do NOT fit: {short} short on each GPU; {binary(missing)} in all."
    verb = "does" if question.requests == 1 else "do"
    return f"{asked} {verb} NOT fit: {binary(missing)} short on each GPU. {fit} fit."


def _fitting(question: Question, figures: Figures) -> str:
    """How many requests fit, and how many the engine has blocks for."""
    bound, engine = figures["fit.sequences"], figures.get("fit.engine.sequences")
    if engine is None or engine.value == bound.value:
        return f"{bound.value:,}"
    return f"{bound.value:,} ({engine.value:,} in {question.engine})"


def _ways(model: Model, question: Question, figures: Figures) -> list[str]:
    """What would make the requests fit, each with its number."""
    if not figures["fit.missing"].value:
        return []
    lines = []
    if question.device is not None:
        for scheme in _WAYS:
            lines += _way(model, question, f"--weights {scheme}", {"weights": scheme})
        lines += _more_gpus(model, question)
    context = figures.get("fit.context")
    if context is not None and context.value:
        lines.append(f"with a context of at most {decimal(context.value)} tokens: all of them")
    return lines


def _more_gpus(model: Model, question: Question) -> Sequence[str]:
    """Twice the GPUs, or as many times as it takes."""
    lines: list[str] = []
    for tp in _doubled(question.tp):
        word = f"--count {tp}" if question.count == question.tp else f"--tp {tp}"
        tried = _way(model, question, word, {"tp": tp, "count": None})
        if not tried:
            break
        lines = tried
        if _holds(model, msgspec.structs.replace(question, tp=tp, count=None)):
            break
    return lines


def _doubled(tp: int) -> Iterator[int]:
    while tp < _MOST:
        tp *= 2
        yield tp


def _holds(model: Model, question: Question) -> bool:
    return not _fitted(model, question)[0]["fit.missing"].value


def _way(model: Model, question: Question, words: str, change: dict[str, Any]) -> list[str]:
    """What fits with other options; nothing where the model cannot have them."""
    try:
        changed = msgspec.structs.replace(question, **change)
        figures, _ = _fitted(model, changed)
    except TxcalcError:
        return []
    context = figures.get("fit.context")
    longest = (
        ""
        if context is None or not context.value
        else f", or {decimal(context.value)} tokens for all"
    )
    return [f"with {words}: {_fitting(changed, figures)} fit{longest}"]


def _gpus(number: int) -> str:
    return f"{number:,} GPU{'s' if number > 1 else ''}"


def _requests(number: int) -> str:
    return f"{number:,} request{'s' if number > 1 else ''}"


ACCOUNT = Account(
    reads=(
        "ctx", "requests", "device", "count", "kv_memory", "utilisation", "overhead",
        "source", "dtype", "weights", "kv", "mtp", *LAYOUT, *ENGINE,
    ),
    make=report,
)  # fmt: skip
