"""The accounts by name, each imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

import msgspec

from txcalc.accounts.account import Account
from txcalc.errors import AddressError, OptionError, RefusedError, TxcalcError, nearest
from txcalc.model.model import Model
from txcalc.report import address as grammar
from txcalc.report.report import Report
from txcalc.workload.device import Device
from txcalc.workload.question import Question

WITH_FIGURES = (
    "params", "flops", "kvcache", "weights", "intensity", "concurrency", "generation", "memory",
    "fit", "roofline", "regimes", "train", "trainmem", "dims", "image", "audio", "verify",
)  # fmt: skip
"""Accounts whose figures have addresses, the first word of which is the account's name."""


_ANY_DEVICE = Device(
    name="any",
    source="",
    memory_gib=Fraction(1),
    bandwidth_gbps=Fraction(1),
    dense_tflops={"fp32": Fraction(1), "bf16": Fraction(1)},
)
"""A device for the names of figures, whatever their values."""


def declared(name: str) -> Account:
    """What an account declares of itself."""
    module_account: Account = import_module(f"txcalc.accounts.{name}").ACCOUNT
    return module_account


def account(name: str, model: Model, question: Question) -> Report:
    """The report of one account on a model.

    Raises:
        TxcalcError: a question that the account or the model does not answer.
    """
    return about(model, declared(name).make(model, question))


def about(model: Model, report: Report) -> Report:
    """A report with what is the same of every account on a model."""
    return msgspec.structs.replace(
        report,
        model=model.name,
        source=model.source,
        scope=model.scope,
        block_kinds=list(model.blocks),
        assumptions=[*model.notes, *report.assumptions],
        warnings=[*model.warnings, *report.warnings],
    )


def addresses_of(model: Model) -> list[str]:
    """Every address at which a model has a figure, without a block's name where it has one kind."""
    asked = Question(
        phase="token" if model.has_decoder else "prefill",
        ctx=None if model.context else 1,
        kv_memory="1",
        engine="vllm",
        price="1",
    )
    on_device = msgspec.structs.replace(asked, device=_ANY_DEVICE, kv_memory=None)
    addresses: dict[str, None] = {}
    for name in WITH_FIGURES:
        try:
            report = account(name, model, asked if name == "fit" else on_device)
        except RefusedError:
            continue
        named = [*report.figures, *(a for a in report.shown if a in report.refused)]
        addresses |= dict.fromkeys(map(report.short, named))
    return list(addresses)


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


def accounts_of(text: str) -> list[str]:
    """The accounts that answer the addresses of an expression, each once.

    Raises:
        AddressError: no account begins like one of them, or there is no address.
        ExpressionError: a text that is no expression.
    """
    if not grammar.is_arithmetic(text):
        return [account_of(text)]
    from txcalc.report.expression import addresses

    names = list(dict.fromkeys(account_of(address) for address in addresses(text)))
    if not names:
        raise AddressError(f"{text!r} names no figure: an address is needed, as params.total")
    return names


def is_about_figures(text: str) -> bool:
    """Whether a text is an address, or an expression, that accounts answer."""
    try:
        return bool(accounts_of(text))
    except TxcalcError:
        return False


def report_of(text: str, model: Model, question: Question) -> Report:
    """The report that holds an address, or under its text the value of an expression.

    Raises:
        AddressError: no account begins like one of its addresses.
        TxcalcError: a question that an account or the model does not answer.
    """
    report = _joined([account(name, model, question) for name in accounts_of(text)])
    if not grammar.is_arithmetic(text):
        return report
    from txcalc.report.expression import evaluate

    value = evaluate(text, report.find)
    return msgspec.structs.replace(report, figures=report.figures | {text: value})


def _joined(reports: Sequence[Report]) -> Report:
    """One report with the figures of all, and each of their lines once."""
    first, *others = reports
    if not others:
        return first

    def lines(field: str) -> list[str]:
        return list(dict.fromkeys(line for each in reports for line in getattr(each, field)))

    def by_address(field: str) -> dict[str, Any]:
        return {name: of for each in reports for name, of in getattr(each, field).items()}

    return msgspec.structs.replace(
        first,
        **{name: lines(name) for name in ("assumptions", "conventions", "warnings")},
        **{name: by_address(name) for name in ("figures", "beneath", "refused", "ambiguous")},
    )


def refuse_unread(options: Iterable[str], texts: Iterable[str], prefix: str = "--") -> None:
    """Refuses options of a question that no account of these addresses and expressions reads.

    ``prefix`` is what an option's name has before it where the user writes it.

    Raises:
        OptionError: naming the option, the accounts, and what they read.
    """
    names = list(dict.fromkeys(name for text in texts for name in accounts_of(text)))
    read = list(dict.fromkeys(option for name in names for option in declared(name).reads))
    for option in options:
        if option not in read:
            listed = ", ".join(prefix + name for name in read) or "no option"
            verb = "reads" if len(names) == 1 else "read"
            raise OptionError(
                f"{prefix}{option} changes nothing here: {' and '.join(names)} {verb} {listed}"
            )
