"""From a question to standard output: all of the answer, or none of it."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TextIO

from txcalc.accounts import registry
from txcalc.errors import OptionError
from txcalc.model.model import Model
from txcalc.render import Format, render
from txcalc.report.report import Layout
from txcalc.sources import bundled
from txcalc.sources.loading import load
from txcalc.workload.question import Question


class Models(NamedTuple):
    """Which models a command is about, and how they are read."""

    names: Sequence[str] | None
    changes: Sequence[str] | None = None
    type_: str | None = None
    strict: bool = False

    def load(self) -> list[Model]:
        """All of them, or the documented ones where none is named."""
        return [
            load(name, self.changes or (), type_=self.type_, strict=self.strict)
            for name in self.names or bundled.DOCUMENTED
        ]


def answer(
    account: str,
    models: Models,
    given: Mapping[str, Any],
    fmt: Format,
    layout: Layout = "figures",
    *,
    explain: bool = False,
) -> None:
    """Asks one account about every model, and prints the answer once all of it is there."""
    question = Question(**given)
    reports = [registry.account(account, model, question) for model in models.load()]
    warnings = [warning for report in reports for warning in report.warnings]
    emit(render(reports, fmt, layout, explain=explain), warnings)


def emit(text: str, warnings: Sequence[str]) -> None:
    """Warnings to standard error, the text to standard output."""
    warn(warnings)
    with writing():
        sys.stdout.write(_encodable(text))
        sys.stdout.flush()


def warn(warnings: Sequence[str]) -> None:
    """Each warning once, to standard error."""
    for warning in dict.fromkeys(warnings):
        say(f"warning: {warning}")


def say(message: str) -> None:
    """A message in one line on standard error; one that cannot be written is lost."""
    from txcalc.report.format import printable

    try:
        print(f"txcalc: {printable(message)}", file=sys.stderr, flush=True)
    except OSError:
        _close_quietly(sys.stderr)


@contextmanager
def writing() -> Iterator[None]:
    """Around writes to standard output: a closed pipe ends quietly, a full disk is an error."""
    try:
        yield
    except BrokenPipeError:
        _close_quietly(sys.stdout)
    except OSError as error:
        _close_quietly(sys.stdout)
        raise OptionError(f"standard output cannot be written: {error.strerror}") from None


def _close_quietly(stream: TextIO) -> None:
    """Leaves nothing for Python to write to a closed pipe or a full disk when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _encodable(text: str) -> str:
    """The text in characters that standard output can encode."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        from txcalc.report.format import in_ascii

        return in_ascii(text).encode(encoding, "backslashreplace").decode(encoding)
    return text
