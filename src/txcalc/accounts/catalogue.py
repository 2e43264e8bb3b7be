"""A list of models: each one's kind, its parameters and its source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from txcalc.accounts import params
from txcalc.accounts.account import Account
from txcalc.model.model import Model
from txcalc.model.parts.ffn import Mixture
from txcalc.report.report import Report
from txcalc.workload.question import Question

Kind = Literal["dense", "moe", "hybrid", "recurrent", "encoder", "encoder-decoder"]
Order = Literal["name", "params", "kind"]
_TOTAL = "params.total"


def kind(model: Model) -> Kind:
    """What a model is built like, seen from its blocks alone."""
    if model.has_encoder:
        return "encoder-decoder" if model.has_decoder else "encoder"
    blocks = model.blocks.values()
    if any(block.ssm for block in blocks):
        return "hybrid" if any(block.attention for block in blocks) else "recurrent"
    return "moe" if any(isinstance(block.ffn, Mixture) for block in blocks) else "dense"


def report(model: Model, question: Question) -> Report:
    """``params.total``, with the model's kind as its note."""
    return Report(
        title="bundled models",
        figures={**params.totals(model)},
        shown=[_TOTAL],
        notes={_TOTAL: kind(model)},
    )


def ordered(reports: Iterable[Report], by: Order | None) -> list[Report]:
    """Reports of models by name, by parameters or by kind; only the last stand below their kinds.

    Without an order a table still lists them by kind, and all else as they are.
    """
    keys: dict[Order, Callable[[Report], Any]] = {
        "name": lambda report: report.model,
        "params": lambda report: report.figures[_TOTAL].value,
        "kind": lambda report: report.notes[_TOTAL],
    }
    if by is None:
        return list(reports)
    listed = sorted(reports, key=keys[by])
    return listed if by == "kind" else [msgspec.structs.replace(r, notes={}) for r in listed]


ACCOUNT = Account(reads=(), make=report, layout="catalogue")
