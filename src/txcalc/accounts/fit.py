"""Whether a model fits on GPUs: how many sequences, how long a context, and what is missing."""

from __future__ import annotations

import msgspec

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.budget import Budget, with_count
from txcalc.accounts.memory import ENGINE, LAYOUT, beyond, gpus
from txcalc.accounts.pool import RATIO, group_size
from txcalc.accounts.setting import Setting
from txcalc.accounts.ways import fitted, holds, longest, requests_held, ways
from txcalc.errors import OptionError
from txcalc.model.model import Model
from txcalc.report.format import binary, decimal
from txcalc.report.report import Bar, Figures, Report
from txcalc.workload.question import Question

CONVENTIONS = [
    "of several stages the one that holds fewest; tokens = budget / bytes that one token writes",
    "an engine's activations and graphs are not derived: --overhead (2.1 to 7.4 GiB in logs)",
]
BOUND = "bound: the architecture's, no engine holds more"


def report(model: Model, question: Question) -> Report:
    """Sequences, tokens and context that fit, and what is missing for the requests.

    Raises:
        OptionError: neither a device nor a memory for the cache, or options that contradict
            each other.
        RefusedError: a model whose sequences keep nothing.
    """
    question = on_device(question)
    setting = Setting(model, question)
    setting.refuse_partial()
    setting.refuse_encoder_only("fit")
    figures, tightest = fitted(model, question)
    workload = tightest.workload
    labels = _labels(question)
    return Report(
        title=_title(question),
        figures=figures,
        shown=[address for address in labels if address in figures],
        labels=labels,
        remarks=_remarks(question, figures, tightest),
        lead=[_verdict(question, figures, tightest)],
        ways=ways(model, question, figures),
        bars=[Bar(address, figures[address]) for address in ("fit.budget", "fit.needed")],
        refused=_refused(question),
        assumptions=[
            *kvcache.assumptions(setting, workload),
            weights.in_format(model, question),
            gpus(question),
            f"engine {question.engine}",
        ],
        conventions=[BOUND, *CONVENTIONS, *weights.conventions(model, question)],
        warnings=[
            *weights.warnings(model, question),
            *(beyond(setting, workload.ctx, workload.source) or _beyond(model, figures)),
        ],
    )


def _beyond(model: Model, figures: Figures) -> list[str]:
    """A warning where the longest context is beyond the model's own."""
    own, reached = model.context, longest(figures)
    if own is None or reached is None or reached.value <= own.value:
        return []
    longest_one = f"the longest context that fits, {decimal(reached.value)}"
    return [f"{model.name}: {longest_one}, is beyond its own, {own.value:,}"]


def on_device(question: Question) -> Question:
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
    return with_count(msgspec.structs.replace(question, batch=1))


def _title(question: Question) -> str:
    """On what it is to fit."""
    if question.device is None:
        return f"with {question.kv_memory} GiB of each GPU for the cache, {gpus(question)}"
    return f"on {question.device.name}, {gpus(question)}"


def _refused(question: Question) -> dict[str, str]:
    """Why figures of an engine are not there."""
    if question.engine == "none":
        return {"fit.engine": "an engine allocates it: give --engine"}
    return {f"fit.engine.{what}": f"{question.engine} has none" for what in ("blocks", "tokens")}


def _labels(question: Question) -> dict[str, str]:
    """What the rows are called, in their order."""
    asked = requests(question.requests)
    return {
        "fit.memory": "memory",
        "fit.available": f"x utilisation {float(question.utilised):g}",
        "fit.loaded": "- weights, RoPE tables, modules",
        "fit.overhead": "- overhead",
        "fit.budget": "= budget for the cache",
        "fit.needed": f"  {asked} need{'s' * (question.requests == 1)}",
        "fit.sequence": "  one request",
        "fit.token": "  one token",
        "fit.missing": "  missing",
        "fit.engine": question.engine,
        "fit.sequences": "requests at ctx",
        "fit.engine.sequences": "requests at ctx",
        "fit.tokens": "tokens in the cache",
        "fit.engine.tokens": "tokens in the cache",
        "fit.engine.blocks": f"blocks of {question.block_size}",
        "fit.blocks": f"blocks of {question.block_size}",
        "fit.context": f"longest for {asked}",
        "fit.engine.context": f"longest for {asked}",
    }


def _remarks(question: Question, figures: Figures, tightest: Budget) -> dict[str, str]:
    """Where a budget's lines are from, and why an engine's figures differ from the bound."""
    device = question.device
    remarks = {}
    if device is not None:
        by_default = question.utilisation is None and question.engine == "vllm"
        remarks = {
            "fit.memory": "nominal" if device.nominal else "as a program sees it",
            "fit.available": "vllm's default, " * by_default + "of total memory",
            "fit.overhead": "--overhead; logs: 2.1 to 7.4 GiB",
        }
    reasons = _reasons(question, tightest)
    for name in ("sequences", "tokens", "context"):
        of_engine = figures.get(f"fit.engine.{name}")
        bound = figures.get(f"fit.{name}")
        if of_engine is not None and bound is not None and of_engine.value != bound.value:
            null = question.engine == "vllm" and name != "tokens"
            why = "; ".join([*reasons, *["one block is null"] * null])
            remarks[f"fit.engine.{name}"] = "as above" if why in remarks.values() else why
    return remarks


def _reasons(question: Question, tightest: Budget) -> list[str]:
    """What an engine allocates beyond the architecture's bound."""
    caches, size = tightest.engine.caches, question.block_size
    windows, mixed = caches.has_windows, len({spec.window for spec in caches.specs}) > 1
    if question.engine == "llamacpp":
        return ["cells in multiples of 256", *["a window holds a ubatch too"] * windows]
    listed = [f"whole {'blocks' if question.engine == 'vllm' else 'pages'} of {size}"]
    listed += ["a window holds a step's tokens too"] * windows
    if mixed and question.engine == "vllm":
        layers = group_size(caches.specs)
        listed.append(f"groups of {layers} layers, pages of the largest")
    elif mixed:
        listed.append(f"windows have a pool of {float(RATIO.value):g} of the tokens")
    return listed


def _verdict(question: Question, figures: Figures, tightest: Budget) -> str:
    """The answer in a sentence."""
    asked = f"{requests(question.requests)} of {tightest.workload.ctx.value:,} tokens"
    missing, verb = figures["fit.missing"].value, "does" if question.requests == 1 else "do"
    if holds(question, figures):
        fits = "fits" if question.requests == 1 else "fit"
        return f"{asked} {fits}; {_fitting(question, figures)} would."
    if tightest.left.value < 0:
        short, beside = binary(-tightest.left.value), binary(missing)
        cache = f"with the cache of {requests(question.requests)} {beside}"
        return f"The weights alone do NOT fit: {short} short on each GPU, {cache}."
    if not missing:
        held, bound = requests_held(figures), figures["fit.sequences"]
        both = f"{decimal(held.value)} fit, {decimal(bound.value)} by the bound"
        return f"{asked} {verb} NOT fit in {question.engine}: {both}."
    return (
        f"{asked} {verb} NOT fit: {binary(missing)} short on each GPU. "
        f"{_fitting(question, figures)} fit."
    )


def _fitting(question: Question, figures: Figures) -> str:
    """How many requests fit, and how many the bound says where an engine holds fewer."""
    held, bound = requests_held(figures), figures["fit.sequences"]
    if held.value == bound.value:
        return decimal(bound.value)
    return f"{decimal(held.value)} in {question.engine} (bound {decimal(bound.value)})"


def requests(number: int) -> str:
    """So many requests in words."""
    return f"{number:,} request{'s' if number > 1 else ''}"


ACCOUNT = Account(
    reads=(
        "ctx", "requests", "device", "count", "kv_memory", "utilisation", "overhead",
        "source", "dtype", "weights", "kv", "mtp", *LAYOUT, *ENGINE, "checkpoint",
    ),
    make=report,
    layout="budget",
)  # fmt: skip
