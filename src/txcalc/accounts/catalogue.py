"""A list of models: each one's kind, its parameters and its source."""

from __future__ import annotations

from typing import Literal

from txcalc.accounts import params
from txcalc.accounts.account import Account
from txcalc.model.model import Model
from txcalc.model.parts.ffn import Mixture
from txcalc.report.report import Report
from txcalc.workload.question import Question

Kind = Literal["dense", "moe", "hybrid", "recurrent", "encoder", "encoder-decoder"]


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
        figures=params.totals(model),
        shown=["params.total"],
        notes={"params.total": kind(model)},
    )


ACCOUNT = Account(reads=(), make=report, layout="catalogue")
