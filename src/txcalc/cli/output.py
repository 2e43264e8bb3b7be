"""From a question to standard output: all of the answer, or none of it."""

import os
import sys
from collections.abc import Sequence

from txcalc.accounts import ask
from txcalc.accounts.question import Question
from txcalc.render.text import Format, Layout, render
from txcalc.sources import bundled


def answer(
    account: str,
    models: Sequence[str] | None,
    changes: Sequence[str] | None,
    question: Question,
    fmt: Format,
    layout: Layout = "figures",
) -> None:
    """Asks one account about every model, and prints the answer once all of it is there."""
    reports = [
        ask.account(account, bundled.load(name, changes or ()), question)
        for name in models or bundled.DOCUMENTED
    ]
    warnings = [warning for report in reports for warning in report.warnings]
    emit(render(reports, fmt, layout), warnings)


def emit(text: str, warnings: Sequence[str]) -> None:
    """Warnings to standard error, the text to standard output; a closed pipe ends it quietly."""
    for warning in dict.fromkeys(warnings):
        print(f"txcalc: warning: {warning}", file=sys.stderr)
    try:
        sys.stdout.write(_encodable(text))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _encodable(text: str) -> str:
    """The text in signs that standard output can encode."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        from txcalc.render.numbers import in_ascii

        return in_ascii(text).encode(encoding, "backslashreplace").decode(encoding)
    return text
