"""How many bytes the parameters take."""

from __future__ import annotations

from txcalc.accounts import params
from txcalc.accounts.question import Question
from txcalc.exact.quantity import Quantity, product
from txcalc.model.model import Model
from txcalc.report.report import Figures, Report


def account(model: Model, question: Question) -> Report:
    """All parameters in the weights' format."""
    found = params.sums(model)
    return Report(
        title="weights",
        model=model.name,
        source=model.source,
        figures={"weights.bytes": weight_bytes(question, found)},
        shown=["weights.bytes"],
        beneath=found,
        block_kinds=list(model.blocks),
        assumptions=[f"weights {question.weights or question.dtype}"],
    )


def weight_bytes(question: Question, found: Figures) -> Quantity:
    """Every parameter once, a tied head with the embedding."""
    return product(found["params.total"], question.weight_bytes)
