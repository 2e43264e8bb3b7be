"""``page``: models as one file to play with in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from txcalc.cli.files import write
from txcalc.cli.output import Models, emit
from txcalc.errors import OptionError
from txcalc.report.format import printable
from txcalc.sources import bundled

Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="a file that ends in html")
]


def page(models: Models, output: Output) -> None:
    """Writes a page and names its file."""
    from txcalc.page.html import page as made

    if not output.lower().endswith((".html", ".htm")):
        raise OptionError(f"-o {output}: a file that ends in html is needed")
    names, changes = models.names or bundled.DOCUMENTED, models.changes or ()
    text, warnings = made(names, changes, type_=models.type_, strict=models.strict)
    write(output, text.encode(), (b"<!doctype html", b"<html"), "no page")
    emit(f"{printable(output)}\n", warnings)
