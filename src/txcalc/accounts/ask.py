"""From the first word of an address to the account that answers it."""

from __future__ import annotations

from importlib import import_module

import msgspec

from txcalc.accounts.question import Question
from txcalc.errors import AddressError, nearest
from txcalc.model.model import Model
from txcalc.report.report import Report

ACCOUNTS = (
    "params", "flops", "kvcache", "weights", "intensity", "concurrency", "generation", "dims",
)  # fmt: skip


def account(name: str, model: Model, question: Question) -> Report:
    """The report of one account, whose module is imported only now."""
    report: Report = import_module(f"txcalc.accounts.{name}").account(model, question)
    return msgspec.structs.replace(
        report,
        scope=model.scope,
        assumptions=[*model.notes, *report.assumptions],
        warnings=[*model.warnings, *report.warnings],
    )


def report_of(address: str, model: Model, question: Question) -> Report:
    """The report that holds an address.

    Raises:
        AddressError: no account begins like this.
    """
    root = address.partition(".")[0]
    if root not in ACCOUNTS:
        raise AddressError(
            f"no account {root!r} for the address {address!r}{nearest(root, list(ACCOUNTS))}"
        )
    return account(root, model, question)
