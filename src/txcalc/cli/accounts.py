"""Commands that ask one account about models, derived from what the account declares."""

from __future__ import annotations

from collections.abc import Callable

from txcalc.accounts import registry
from txcalc.cli import options as opt
from txcalc.cli.output import Models, answer
from txcalc.cli.signature import Given, with_options
from txcalc.report.report import Layout


def command(name: str) -> Callable[..., None]:
    """The function of an account's command."""
    account = registry.declared(name)

    def ask(
        models: Models,
        given: Given,
        view: Layout | None = None,
        explain: opt.Explain = False,
        fmt: opt.FormatOption = "table",
    ) -> None:
        answer(name, models, given, fmt, view or account.layout, explain=explain)

    return with_options(ask, reads=account.reads, one=account.one, views=dict(account.views))
