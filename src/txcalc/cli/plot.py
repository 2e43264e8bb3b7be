"""``plot``: answers as pictures, one command a kind of picture."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import Annotated, Literal, get_args

import typer

from txcalc.accounts import registry
from txcalc.accounts.options import KNOWN
from txcalc.cli import options as opt
from txcalc.cli.files import write
from txcalc.cli.output import Models, emit
from txcalc.cli.signature import Given, with_options
from txcalc.errors import OptionError
from txcalc.render.plots.drawing import Paper, Suffix, drawn
from txcalc.render.plots.picture import Picture
from txcalc.report.format import printable
from txcalc.workload.question import Question

Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="a file that ends in svg, png or pdf")
]
Dark = Annotated[bool, typer.Option("--dark", help="light lines on a dark ground")]
Size = Annotated[
    str | None, typer.Option(metavar="WxH", help="width and height in inches; default: as needed")
]
Dpi = Annotated[int, typer.Option(min=20, max=1200, help="dots an inch of a png")]

_SIZE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)x([0-9]{1,3}(?:\.[0-9]{1,3})?)", re.ASCII)
_LEAST, _MOST = 2, 60
"""Inches of a side."""
_BEGINNINGS = (b"<?xml", b"<svg", b"\x89png", b"%pdf-")


def sweep(
    models: Models,
    addresses: opt.Addresses = None,
    *,
    over: opt.Over = None,
    given: Given,
    output: Output,
    dark: Dark = False,
    size: Size = None,
    dpi: Dpi = 150,
) -> None:
    """Draws a line for each combination of the axes but the last that is no model."""
    from txcalc.cli.tools import swept_by
    from txcalc.render.plots.swept import swept

    how = _paper(size, dpi, dark=dark), _suffix(output)
    made = swept_by(models, addresses or [], over or [], given)
    _save(swept(made, given), output, *how, made.warnings)


def memory(
    models: Models,
    given: Given,
    output: Output,
    dark: Dark = False,
    size: Size = None,
    dpi: Dpi = 150,
) -> None:
    """Draws the weights, and the caches of more and more sequences on top of them."""
    from txcalc.render.plots.memory import memory

    how = _paper(size, dpi, dark=dark), _suffix(output)
    device = given.pop("device", None)
    [model] = models.load()
    report = registry.account("concurrency", model, Question(**given))
    _save(memory(report, device), output, *how, report.warnings)


def params(
    models: Models,
    output: Output,
    dark: Dark = False,
    size: Size = None,
    dpi: Dpi = 150,
) -> None:
    """Draws a bar for each model, of the shares of its components."""
    from txcalc.render.plots.params import params

    how = _paper(size, dpi, dark=dark), _suffix(output)
    loaded = models.load()
    warnings = [warning for model in loaded for warning in model.warnings]
    _save(params(loaded), output, *how, warnings)


def _save(picture: Picture, output: str, paper: Paper, suffix: Suffix, warnings: list[str]) -> None:
    """Writes a picture and names its file."""
    command = printable(shlex.join(["txcalc", *sys.argv[1:]]))
    write(output, drawn(picture, suffix, paper, command), _BEGINNINGS, "no picture")
    emit(f"{printable(output)}\n", warnings)


def _suffix(output: str) -> Suffix:
    ending = os.path.splitext(output)[1].removeprefix(".").lower()
    for suffix in get_args(Suffix):
        if ending == suffix:
            known: Suffix = suffix
            return known
    raise OptionError(f"-o {output}: a file that ends in {', '.join(get_args(Suffix))} is needed")


def _paper(size: str | None, dpi: int, *, dark: bool) -> Paper:
    if size is None:
        return Paper(dpi=dpi, dark=dark)
    match = _SIZE.fullmatch(size)
    width, height = map(float, match.groups()) if match else (0.0, 0.0)
    if not (_LEAST <= width <= _MOST and _LEAST <= height <= _MOST):
        raise OptionError(f"--size {size}: inches from {_LEAST} to {_MOST} are needed, as 7.2x4.2")
    return Paper(size=(width, height), dpi=dpi, dark=dark)


Kind = Literal["sweep", "memory", "params"]
KINDS: dict[Kind, str] = {
    "sweep": "Figures over an axis, a line for each combination of others.",
    "memory": "Weights, and the caches of more and more sequences.",
    "params": "Parameters of models by component.",
}


def application(help_: str, epilog: str | None) -> typer.Typer:
    """The commands of ``plot``."""
    app = typer.Typer(help=help_, epilog=epilog, no_args_is_help=False)
    functions = {
        "sweep": with_options(sweep, reads=KNOWN, one=True),
        "memory": with_options(
            memory, reads=(*registry.declared("concurrency").reads, "device"), one=True
        ),
        "params": with_options(params, reads=()),
    }
    for name, help_of in KINDS.items():
        app.command(name, help=help_of)(functions[name])
    return app
