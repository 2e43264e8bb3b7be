"""How many bytes the parameters take."""

from __future__ import annotations

from txcalc.accounts import params
from txcalc.accounts.account import Account
from txcalc.exact.quantity import Quantity, product
from txcalc.model.model import Model
from txcalc.report.report import Figures, Report
from txcalc.workload.question import Question


def report(model: Model, question: Question) -> Report:
    """All parameters in the weights' format."""
    sums = params.totals(model)
    return Report(
        title="weights",
        figures={"weights.bytes": weight_bytes(question, sums)},
        shown=["weights.bytes"],
        beneath=sums,
        assumptions=[in_format(question)],
    )


def weight_bytes(question: Question, sums: Figures) -> Quantity:
    """Every parameter once, a tied head with the embedding."""
    return product(sums["params.total"], question.weight_bytes)


def in_format(question: Question) -> str:
    """The weights' format as an assumption."""
    return f"weights {question.weights or question.dtype}"


ACCOUNT = Account(reads=("dtype", "weights"), make=report)
