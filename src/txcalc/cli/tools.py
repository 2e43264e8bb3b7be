"""Commands about one figure, one file, or the bundled models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from txcalc.accounts import registry
from txcalc.accounts.catalogue import Kind, Order, ordered
from txcalc.accounts.options import KNOWN, question_for
from txcalc.cli import options as opt
from txcalc.cli.check import check
from txcalc.cli.output import Models, emit, warn
from txcalc.cli.page import page
from txcalc.cli.prove import prove
from txcalc.cli.signature import Command, Given, with_options
from txcalc.cli.verify import verify
from txcalc.errors import AddressError, OptionError, UnknownModelError, nearest
from txcalc.workload.question import Question

if TYPE_CHECKING:
    from txcalc.sweeps.sweep import Axis, Sweep

ExplainFormat = Literal["table", "json"]
SweepFormat = Literal["table", "csv", "json"]


def models(
    having: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="parts of names, or kinds of parts as mla"),
    ] = None,
    kind: Annotated[Kind | None, typer.Option(help="only models of a kind")] = None,
    sort: Annotated[Order | None, typer.Option(help="order; default: tables by kind")] = None,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """Lists the bundled models, each with its kind as ``catalogue`` finds it."""
    from txcalc.render import render
    from txcalc.sources import bundled
    from txcalc.sources.loading import load

    named = bundled.having(having or [])
    reports = [registry.account("catalogue", load(name), Question()) for name in named]
    if kind:
        reports = [report for report in reports if report.notes["params.total"] == kind]
    if not reports:
        of_kind = f"of kind {kind} " if kind else ""
        has = f"has {' or '.join(having)} in its name or kind" if having else "is there"
        hint = nearest(having[0], bundled.names()) if having and not named else ""
        raise UnknownModelError(f"no bundled model {of_kind}{has}{hint}")
    emit(render(ordered(reports, sort), fmt, "catalogue", explain=explain), [])


def devices(
    having: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="parts of the names to list")
    ] = None,
    fmt: Annotated[ExplainFormat, typer.Option("--format", help="how it is written")] = "table",
) -> None:
    """Lists the bundled accelerators with what their sources say."""
    from txcalc.render.devices import devices_json, devices_table
    from txcalc.sources.devices import all_devices

    listed = [
        d for d in all_devices() if not having or any(text.lower() in d.name for text in having)
    ]
    if not listed:
        raise OptionError(f"no bundled device has {' or '.join(having or [])} in its name")
    emit(devices_json(listed) if fmt == "json" else devices_table(listed), [])


def addresses(
    models: Models,
    having: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="parts of the addresses to list")
    ] = None,
) -> None:
    """Lists what ``get``, ``explain`` and ``sweep`` can be asked for."""
    [model] = models.load()
    named = [
        address
        for address in registry.addresses_of(model)
        if not having or any(text in address for text in having)
    ]
    if not named:
        raise AddressError(f"{model.name} has no address with {' or '.join(having or [])} in it")
    emit("".join(f"{address}\n" for address in named), model.warnings)


def import_(
    model: opt.ModelArgument,
    type_: opt.Type = None,
    strict: opt.Strict = False,
) -> None:
    """Writes the description as it is before any edit."""
    from txcalc.sources.loading import read
    from txcalc.sources.yaml import dump

    tree, _, warnings = read(model, type_=type_, strict=strict)
    emit(dump(tree), warnings)


def get(
    models: Models,
    address: opt.Address,
    given: Given,
    exact: Annotated[
        bool, typer.Option("--exact", help="a number that is no integer as n/d")
    ] = False,
    explain: opt.Explain = False,
) -> None:
    """Prints a figure; with ``--explain`` its formula behind it."""
    from txcalc.exact.printing import substituted, symbolic
    from txcalc.report.format import plain

    [loaded] = models.load()
    report = registry.report_of(address, loaded, question_for(given, [address]))
    figure = report.find(address)
    shown = [plain(figure.value, as_fraction=exact)]
    if explain:
        shown += [symbolic(figure), substituted(figure)]
    emit(" = ".join(shown) + "\n", report.warnings)


def explain(
    models: Models,
    address: opt.Address,
    given: Given,
    depth: opt.Depth = None,
    fmt: Annotated[ExplainFormat, typer.Option("--format", help="how it is written")] = "table",
) -> None:
    """Explains one figure down to the letters it is made of."""
    from txcalc.render.explanation import explanation_json, explanation_table
    from txcalc.report.explain import explain as explained

    [loaded] = models.load()
    report = registry.report_of(address, loaded, question_for(given, [address]))
    explanation = explained(report, address, depth)
    shown = explanation_json if fmt == "json" else explanation_table
    emit(shown(explanation), report.warnings)


def sweep(
    models: Models,
    addresses: opt.Addresses = None,
    *,
    over: opt.Over = None,
    given: Given,
    fmt: Annotated[SweepFormat, typer.Option("--format", help="json is a line a point")] = "table",
) -> None:
    """Writes a point a line, as they come, or a table of few."""
    swept = swept_by(models, addresses or [], over or [], given)
    if fmt == "table":
        from txcalc.render.points import points_table

        emit(points_table(swept), swept.warnings)
    else:
        from txcalc.cli.stream import stream

        warn(swept.warnings)
        stream(swept.header() if fmt == "csv" else "", swept.lines(fmt), swept.points)


def swept_by(models: Models, addresses: Sequence[str], over: Sequence[str], given: Given) -> Sweep:
    """The sweep that a command line asks for."""
    from txcalc.sweeps.axes import axes
    from txcalc.sweeps.sweep import Sweep

    swept_over = axes(over)
    model, texts = _model_first([*(models.names or []), *addresses], swept_over)
    return Sweep(
        model, texts, swept_over, given, models.changes or (),
        type_=models.type_, strict=models.strict,
    )  # fmt: skip


def solve(
    models: Models,
    condition: Annotated[
        str, typer.Argument(metavar="CONDITION", help="A >= B or A <= B, arithmetic over addresses")
    ],
    *,
    for_: Annotated[
        str, typer.Option("--for", metavar="LETTER", help="batch, ctx, or a dimension as n_layers")
    ],
    given: Given,
    fmt: Annotated[ExplainFormat, typer.Option("--format", help="how it is written")] = "table",
) -> None:
    """Finds the least whole number of a letter at which a condition holds."""
    from txcalc.render.solution import solution_json, solution_table
    from txcalc.sweeps.solving import solve as solved

    [name] = models.names or []
    solution = solved(
        name, condition, for_, given, models.changes or (),
        type_=models.type_, strict=models.strict,
    )  # fmt: skip
    shown = solution_json if fmt == "json" else solution_table
    emit(shown(solution), solution.warnings)


def _model_first(words: Sequence[str], swept_over: Sequence[Axis]) -> tuple[str, Sequence[str]]:
    """The model before the addresses, which an axis over models may stand in for."""
    first, *others = words
    may_be_left_out = any(axis.name == "model" for axis in swept_over) or not others
    if may_be_left_out and registry.is_about_figures(first):
        return "", words
    return first, others


def _about_figures(command: Command) -> Command:
    return with_options(command, reads=KNOWN, one=True)


COMMANDS: dict[str, Command] = {
    "models": models,
    "devices": devices,
    "addresses": with_options(addresses, reads=(), one=True),
    "import": import_,
    "get": _about_figures(get),
    "explain": _about_figures(explain),
    "sweep": _about_figures(sweep),
    "solve": _about_figures(solve),
    "check": check,
    "page": with_options(page, reads=()),
    "prove": with_options(prove, reads=(), one=True),
    "verify": verify,
}
