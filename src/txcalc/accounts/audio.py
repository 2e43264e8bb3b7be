"""What becomes of sound: frames of the tower, and tokens of the text model."""

from __future__ import annotations

from txcalc.accounts.account import Account
from txcalc.accounts.image import heard_or_seen
from txcalc.model.model import Model
from txcalc.report.report import Report
from txcalc.workload.question import Question

CONVENTIONS = ["model: tokens that the text model receives of the sound of a sequence"]


def report(model: Model, question: Question) -> Report:
    """Frames, pieces and tokens of the sound of one sequence."""
    return heard_or_seen(model, question, "sound", ("frames", "pieces"), CONVENTIONS)


ACCOUNT = Account(reads=("audio",), make=report)
