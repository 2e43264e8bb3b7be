"""How many bytes the parameters take."""

from __future__ import annotations

from txcalc.accounts import params
from txcalc.accounts.question import Question
from txcalc.model import Model
from txcalc.quantity import Quantity, product
from txcalc.report import Report


def account(model: Model, question: Question) -> Report:
    """All parameters in the weights' format."""
    return Report(
        title="weights",
        model=model.name,
        source=model.source,
        figures={"weights.bytes": weight_bytes(model, question)},
        shown=["weights.bytes"],
        assumptions=[f"weights {question.weights or question.dtype}"],
    )


def weight_bytes(model: Model, question: Question) -> Quantity:
    """Every parameter once, a tied head with the embedding."""
    return product(params.sums(model)["params.total"], question.weight_bytes)
