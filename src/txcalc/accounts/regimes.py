"""From which context on score products reach weight products, and caches the weights."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.flops import SCORES
from txcalc.accounts.fold import flops, over_all, run, sums
from txcalc.accounts.setting import ENCODER_ONLY, Setting
from txcalc.accounts.turning import Turning
from txcalc.exact.quantity import Number, Quantity, const, product
from txcalc.model.model import Model, Row
from txcalc.model.rows import Op, Weight
from txcalc.report import address as grammar
from txcalc.report.format import binary, percent
from txcalc.report.report import Report
from txcalc.workload.passes import per_multiply_add
from txcalc.workload.question import Question, positive
from txcalc.workload.reach import Chunk

CONVENTIONS = [
    "each is the least ctx at which it holds",
    "weight products: those of the blocks, without the head",
    "scores: queries with keys, and probabilities with values; FFN: its router and experts too",
]
_LABELS = {
    "regimes.scores_reach_ffn": "scores reach the FFN",
    "regimes.scores_reach_weights": "scores reach all weight products",
    "regimes.cache_reaches_weights": "one cache outweighs the weights",
    "regimes.caches_reach_weights": "the batch's caches outweigh them",
}


def report(model: Model, question: Question) -> Report:
    """The contexts, or that there is none and what the quotient tends to."""
    ctx = positive("ctx", 1)
    question = msgspec.structs.replace(question, ctx=1)
    setting, turning = Setting(model, question), Turning()
    setting.refuse_partial()
    _of_scores(setting, turning)
    if model.has_decoder:
        _of_caches(setting, turning)
    else:
        why = f"no cache: {ENCODER_ONLY}"
        turning.none |= dict.fromkeys(list(_LABELS)[2:], why)
    lines = [f"phase {question.phase}", f"batch {question.batch}"]
    if setting.has_source:
        lines.append(
            "source ctx" if question.source is None else setting.stated(setting.source(ctx))
        )
    cache = f"cache {question.kv or question.dtype}"
    return Report(
        title="regimes (ctx)",
        figures=turning.figures,
        shown=[address for address in _LABELS if address in (turning.figures | turning.none)],
        labels=_LABELS,
        refused=turning.none,
        assumptions=[*lines, cache, weights.in_format(model, question)],
        conventions=[*CONVENTIONS, SCORES[question.scores], *weights.conventions(model, question)],
        warnings=weights.warnings(model, question),
    )


def _of_scores(setting: Setting, turning: Turning) -> None:
    """Where score products reach those of the FFN, and of all weights of the blocks."""
    rows = [row for row in setting.model.text_rows if row.layers is not None]
    products = [row for row in rows if isinstance(row.declared, Weight)]
    attended = [row for row in rows if isinstance(row.declared, Op)]
    ffn = [row for row in products if grammar.first(row.name) == "ffn"]
    scores = _flops(setting, attended)
    for name, others, what in (("ffn", ffn, "the FFN's"), ("weights", products, "all others'")):
        address, bound = f"regimes.scores_reach_{name}", _flops(setting, others)

        def tends(part: Number, what: str = what) -> str:
            return f"scores tend to {percent(const(part))} of {what}"

        if not bound.value:
            turning.none[address] = f"no block has {'an FFN' if name == 'ffn' else 'a weight'}"
        elif setting.question.scores == "causal" and any(map(_is_chunk, attended)):
            turning.none[address] = "several: the visible pairs of a chunk rise and fall with ctx"
        else:
            turning.add(address, "ctx", scores, bound, tends)


def _flops(setting: Setting, rows: Iterable[Row]) -> Quantity:
    """FLOPs of rows in all layers."""
    workload = setting.workload()
    passes = setting.passes(workload)
    per_mac = per_multiply_add(macs=False, phase=workload.phase)
    each = sums(((row, flops(row, passes[row.given], per_mac)) for row in rows), "FLOPs")
    return over_all(setting.model, each, run, "FLOPs")


def _is_chunk(row: Row) -> bool:
    return isinstance(row.declared, Op) and isinstance(row.declared.reach, Chunk)


def _of_caches(setting: Setting, turning: Turning) -> None:
    """Where one cache, and those of the batch, reach the weights."""
    held, _ = weights.held(setting.model, setting.question)
    workload = setting.workload("decode")
    one = kvcache.cache(setting.model, workload, setting.question)["kvcache.sequence"]

    def tends(part: Number) -> str:
        return f"it tends to {binary(part * held.value)} of {binary(held.value)}"

    turning.add("regimes.cache_reaches_weights", "ctx", one, held, tends)
    many = product(workload.batch, one)
    turning.add("regimes.caches_reach_weights", "ctx", many, held, tends)


ACCOUNT = Account(
    reads=("phase", "scores", "batch", "source", "mla", "dtype", "weights", "kv", "checkpoint"),
    make=report,
)
