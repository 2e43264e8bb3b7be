"""The accounts by name, each imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

import msgspec

from txcalc.accounts.account import Account
from txcalc.errors import AddressError, OptionError, nearest
from txcalc.model.model import Model
from txcalc.report import address as grammar
from txcalc.report.report import Report
from txcalc.workload.question import Question

WITH_FIGURES = (
    "params", "flops", "kvcache", "weights", "intensity", "concurrency", "generation", "memory",
    "fit", "dims",
)  # fmt: skip
"""Accounts whose figures have addresses, the first word of which is the account's name."""


def declared(name: str) -> Account:
    """What an account declares of itself."""
    found: Account = import_module(f"txcalc.accounts.{name}").ACCOUNT
    return found


def account(name: str, model: Model, question: Question) -> Report:
    """The report of one account on a model.

    Raises:
        TxcalcError: a question that the account or the model does not answer.
    """
    report = declared(name).make(model, question)
    return msgspec.structs.replace(
        report,
        model=model.name,
        source=model.source,
        scope=model.scope,
        block_kinds=list(model.blocks),
        assumptions=[*model.notes, *report.assumptions],
        warnings=[*model.warnings, *report.warnings],
    )


def account_of(address: str) -> str:
    """The name of the account that answers an address.

    Raises:
        AddressError: no account begins like this.
    """
    name = grammar.first(address)
    if name not in WITH_FIGURES:
        hint = nearest(name, list(WITH_FIGURES))
        raise AddressError(f"no account {name!r} for the address {address!r}{hint}")
    return name


def report_of(address: str, model: Model, question: Question) -> Report:
    """The report that holds an address.

    Raises:
        AddressError: no account begins like this.
        TxcalcError: a question that the account or the model does not answer.
    """
    return account(account_of(address), model, question)


def refuse_unread(options: Iterable[str], addresses: Iterable[str], sign: str = "--") -> None:
    """Refuses options of a question that no account of these addresses reads.

    ``sign`` is what an option's name has before it where the user writes it.

    Raises:
        OptionError: naming the option, the accounts, and what they read.
    """
    names = list(dict.fromkeys(account_of(address) for address in addresses))
    read = list(dict.fromkeys(option for name in names for option in declared(name).reads))
    for option in options:
        if option not in read:
            listed = ", ".join(sign + name for name in read) or "no option"
            verb = "reads" if len(names) == 1 else "read"
            raise OptionError(
                f"{sign}{option} changes nothing here: {' and '.join(names)} {verb} {listed}"
            )
