"""The one figure and the source that a list of models tells of each."""

from __future__ import annotations

from txcalc.accounts import params
from txcalc.accounts.question import Question
from txcalc.model import Model
from txcalc.report import Report


def account(model: Model, question: Question) -> Report:
    """``params.total``."""
    figures = params.sums(model)
    return Report(
        title="bundled models",
        model=model.name,
        source=model.source,
        figures=figures,
        shown=["params.total"],
        block_kinds=list(model.blocks),
    )
