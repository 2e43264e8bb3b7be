"""How many sequences it takes until their caches outweigh the weights."""

from __future__ import annotations

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.setting import Setting
from txcalc.errors import RefusedError
from txcalc.exact.condition import Condition
from txcalc.exact.quantity import ONE, const, product, total
from txcalc.model.model import Model
from txcalc.report.report import Bar, Figures, Report
from txcalc.workload.question import Question

CONVENTIONS = [
    "weights once, a cache for every sequence",
    "crossover = the first whole number of sequences above the ratio",
]

NOTHING_GROWS = "no concurrency: no token adds to what a sequence keeps"
_LABELS = {
    "weights.bytes": "weights",
    "kvcache.sequence": "cache of one sequence",
    "concurrency.ratio": "weights / cache",
    "concurrency.crossover": "caches outweigh weights from",
}


def report(model: Model, question: Question) -> Report:
    """Weights, one sequence's cache, their ratio, and the first count above it.

    Raises:
        RefusedError: a model whose sequences keep nothing that grows.
    """
    setting = Setting(model, question)
    setting.refuse_partial("decoder")
    setting.refuse_encoder_only("concurrency")
    workload = setting.workload("decode")
    cache = kvcache.cache(model, workload, question)
    grows = Condition("above", cache["kvcache.token"], total((), "bytes"), NOTHING_GROWS)
    if not grows.holds:
        raise RefusedError(f"{model.name}: {grows.problem}")
    held, beneath = weights.held(model, question)
    sequence = cache["kvcache.sequence"]
    figures: Figures = {
        "weights.bytes": held,
        "kvcache.sequence": sequence,
        "concurrency.ratio": held / sequence,
        "concurrency.crossover": held // sequence + ONE,
    }
    return Report(
        title="concurrency",
        conditions=[grows],
        figures=figures,
        shown=list(figures),
        beneath={**beneath, **cache},
        labels=_LABELS,
        bars=_bars(figures),
        assumptions=[*kvcache.assumptions(setting, workload), weights.in_format(model, question)],
        conventions=[*CONVENTIONS, *weights.conventions(model, question)],
        warnings=[
            *weights.warnings(model, question),
            *setting.warnings(workload.ctx, workload.source),
        ],
    )


def _bars(figures: Figures) -> list[Bar]:
    """Caches of 1, 2, 4, ... sequences, up to the first that outweighs the weights."""
    cache, crossover = figures["kvcache.sequence"], figures["concurrency.crossover"].value
    counts = [1]
    while counts[-1] < crossover:
        counts.append(2 * counts[-1])
    caches = [
        Bar(f"{count:,} sequence{'s' * (count > 1)}", product(const(count), cache))
        for count in counts[-7:]
    ]
    return [Bar("weights", figures["weights.bytes"]), *caches]


ACCOUNT = Account(reads=("ctx", "source", "dtype", "weights", "kv", "checkpoint"), make=report)
