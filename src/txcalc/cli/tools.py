"""Commands about one figure or one file: get, explain, sweep, import, check."""

from typing import Annotated, Literal

import typer

from txcalc.accounts import ask
from txcalc.accounts.question import Question
from txcalc.cli import options as opt
from txcalc.cli.app import app
from txcalc.cli.asking import FIGURE, asking
from txcalc.cli.output import Models, emit, warn

ExplainFormat = Literal["table", "json"]
CheckFormat = Literal["table", "json", "github"]
SweepFormat = Literal["table", "csv", "json"]


@app.command("import")
def import_(
    model: opt.ModelArgument,
    type_: opt.Type = None,
    strict: opt.Strict = False,
) -> None:
    """The YAML description that a config.json means."""
    from txcalc.sources.loading import read
    from txcalc.sources.yaml import dump

    tree, _, warnings = read(model, type_=type_, strict=strict)
    emit(dump(tree), warnings)


@app.command("get")
@asking(*FIGURE, one=True)
def get(
    models: Models,
    address: opt.Address,
    question: Question,
    exact: Annotated[
        bool, typer.Option("--exact", help="a number that is no integer as n/d")
    ] = False,
    explain: opt.Explain = False,
) -> None:
    """One number and nothing else."""
    from txcalc.exact.printing import substituted, symbolic
    from txcalc.report.format import plain

    [loaded] = models.load()
    report = ask.report_of(address, loaded, question)
    figure = report.find(address)
    told = [plain(figure.value, as_fraction=exact)]
    if explain:
        told += [symbolic(figure), substituted(figure)]
    emit(" = ".join(told) + "\n", report.warnings)


@app.command("explain")
@asking(*FIGURE, one=True)
def explain(
    models: Models,
    address: opt.Address,
    question: Question,
    depth: opt.Depth = None,
    fmt: Annotated[ExplainFormat, typer.Option("--format", help="how it is written")] = "table",
) -> None:
    """How a figure came to be: formula, steps and letters."""
    from txcalc.render.explanation import explanation_json, explanation_table
    from txcalc.report.explain import explain as explained

    [loaded] = models.load()
    report = ask.report_of(address, loaded, question)
    explanation = explained(report, address, depth)
    shown = explanation_json if fmt == "json" else explanation_table
    emit(shown(explanation), report.warnings)


@app.command("sweep")
@asking(*FIGURE, one=True)
def sweep(
    models: Models,
    addresses: Annotated[
        list[str], typer.Argument(metavar="ADDRESS...", autocompletion=opt.addresses)
    ],
    *,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="ctx=512:131072:x2, batch=1:64, n_layers=12:48:+12, model=gpt2-small,gpt3; "
            "several form a product, the last varies fastest",
        ),
    ] = None,
    question: Question,
    fmt: Annotated[SweepFormat, typer.Option("--format", help="json is a line a point")] = "table",
) -> None:
    """Figures over ranges of letters, dimensions and models."""
    from txcalc.cli.stream import stream
    from txcalc.sweep.axes import axes
    from txcalc.sweep.sweep import Sweep

    [model] = models.names or []
    swept = Sweep(
        model, addresses, axes(over or []), question, models.changes or (),
        type_=models.type_, strict=models.strict,
    )  # fmt: skip
    if fmt == "table":
        from txcalc.render.points import points_table

        emit(points_table(swept), swept.warnings)
    else:
        warn(swept.warnings)
        stream(swept.header() if fmt == "csv" else "", swept.lines(fmt), swept.points)


@app.command("check")
def check(
    paths: Annotated[list[str], typer.Argument(metavar="FILE_OR_FOLDER...")],
    write: Annotated[
        bool, typer.Option("--write", help="refresh stale numbers in place, in their own style")
    ] = False,
    fmt: Annotated[CheckFormat, typer.Option("--format", help="how it is written")] = "table",
) -> None:
    """Documented numbers against computed ones."""
    from txcalc.claims.files import verdicts
    from txcalc.render.verdicts import verdicts_github, verdicts_json, verdicts_table

    found = list(verdicts(paths))
    if write:
        from txcalc.claims.refresh import refresh

        found = refresh(found)
    shown = {"table": verdicts_table, "json": verdicts_json, "github": verdicts_github}[fmt]
    emit(shown(found), [])
    wrong = [verdict for verdict in found if not verdict.holds]
    if wrong:
        raise typer.Exit(2 if any(verdict.unreadable for verdict in wrong) else 1)
