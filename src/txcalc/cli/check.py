"""``txcalc check``: documented numbers compared, and refreshed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from txcalc.cli.interrupts import put_off, raised
from txcalc.cli.output import emit, say, warn
from txcalc.errors import OptionError

if TYPE_CHECKING:
    from txcalc.claims.claim import Verdict

Format = Literal["table", "json", "github"]


def check(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE_OR_FOLDER...", help="pages, claims files, folders of them, or -"
        ),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="refresh stale numbers in place, in their own style")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="only what does not hold")] = False,
    fmt: Annotated[Format, typer.Option("--format", help="how it is written")] = "table",
) -> None:
    """Exits with 1 for a claim that does not hold, 2 for one that cannot be read."""
    from txcalc.render.verdicts import failure, verdicts_in
    from txcalc.report.format import printable

    if write and "-" in paths:
        raise OptionError("standard input cannot be refreshed: --write needs a file")
    verdicts, is_interrupted = _checked(paths, write=write)
    emit(verdicts_in(fmt, verdicts, quiet=quiet), [])
    if is_interrupted:
        raise KeyboardInterrupt
    if not verdicts and not quiet:
        warn([f"no claim stands in {printable(', '.join(paths))}"])
    unreadable = [verdict for verdict in verdicts if verdict.unreadable]
    for verdict in unreadable:
        say(failure(verdict))
    if not all(verdict.holds for verdict in verdicts):
        raise typer.Exit(2 if unreadable else 1)


def _checked(paths: list[str], *, write: bool) -> tuple[list[Verdict], bool]:
    """The verdict on each claim; after Ctrl-C those so far, if any number is refreshed by then."""
    from txcalc.claims.files import verdicts_by_page
    from txcalc.claims.refresh import refresh

    verdicts: list[Verdict] = []
    try:
        with raised():
            for page, of_page in verdicts_by_page(paths):
                if write and page:
                    with put_off():
                        verdicts += refresh(page, of_page)
                else:
                    verdicts += of_page
    except KeyboardInterrupt:
        if not any(verdict.refreshed for verdict in verdicts):
            raise
        return verdicts, True
    return verdicts, False
