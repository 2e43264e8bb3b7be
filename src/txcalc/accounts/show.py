"""A model on one screen: the main figure of every account."""

from __future__ import annotations

from txcalc.accounts import concurrency, flops, generation, intensity, kvcache, params
from txcalc.accounts.account import Account
from txcalc.errors import RefusedError
from txcalc.model.model import Model
from txcalc.report.report import Figures, Report
from txcalc.workload.question import Question

_BRIEF = (
    "params.total", "params.active", "params.embedding", "params.blocks", "params.head",
    "flops.blocks", "flops.head", "flops.total",
    "kvcache.token", "kvcache.sequence",
    "intensity.prefill", "intensity.decode",
    "weights.bytes", "concurrency.ratio", "concurrency.crossover",
    "generation.tokens.ratio", "generation.flops.ratio",
)  # fmt: skip
READS = ("ctx", "batch", "source", "prompt", "new", "dtype", "weights", "kv")


def report(model: Model, question: Question) -> Report:
    """The brief figures of all accounts that the model has an answer to."""
    figures: Figures = {}
    assumptions: dict[str, None] = {}
    warnings: dict[str, None] = {}
    read = {name: getattr(question, name) for name in READS}
    asked = Question(**read, phase="token" if model.has_decoder else "prefill")
    for each in (params, flops, kvcache, intensity, concurrency, generation):
        try:
            part = each.report(model, asked)
        except RefusedError as refusal:
            warnings[str(refusal)] = None
            continue
        figures |= part.figures
        assumptions |= dict.fromkeys(part.assumptions)
        warnings |= dict.fromkeys(part.warnings)
    return Report(
        title="in brief",
        figures=figures,
        shown=[address for address in _BRIEF if address in figures],
        labels={address: address for address in _BRIEF},
        assumptions=list(assumptions),
        conventions=["1 multiply-add = 2 FLOPs; each account's own command lists its conventions"],
        warnings=list(warnings),
    )


ACCOUNT = Account(reads=READS, make=report)
