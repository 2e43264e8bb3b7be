"""The application that commands register with."""

from typing import Annotated

import typer

import txcalc

app = typer.Typer(
    help=txcalc.__doc__,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    if version:
        print(txcalc.__version__)
        raise typer.Exit
