"""Commands about one figure or one file: get, explain, sweep, import, check."""

from typing import Annotated, Literal

import typer

from txcalc.accounts import ask
from txcalc.accounts.question import Question
from txcalc.cli import options as opt
from txcalc.cli.app import app
from txcalc.cli.output import Models, emit

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
    from txcalc.sources.load import read
    from txcalc.sources.strict_yaml import dump

    tree, _, warnings = read(model, type_=type_, strict=strict)
    emit(dump(tree), warnings)


@app.command("get")
def get(
    model: opt.ModelArgument,
    address: opt.Address,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    ctx: opt.Ctx = None,
    batch: opt.Batch = 1,
    phase: opt.PhaseOption = "token",
    scores: opt.ScoresOption = "full",
    logits: opt.LogitsOption = "all",
    source: opt.Source = None,
    mla: opt.MlaOption = None,
    macs: opt.Macs = False,
    prompt: opt.Prompt = None,
    new: opt.New = 100,
    dtype: opt.Dtype = "fp16",
    weights: opt.Weights = None,
    kv: opt.Kv = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="a number that is no integer as n/d")
    ] = False,
) -> None:
    """One number and nothing else."""
    from txcalc.numerals import plain

    question = Question(
        ctx=ctx, batch=batch, phase=phase, scores=scores, logits=logits, source=source, mla=mla,
        macs=macs, prompt=prompt, new=new, dtype=dtype, weights=weights, kv=kv,
    )  # fmt: skip
    [loaded] = Models([model], changes, type_, strict).load()
    report = ask.report_of(address, loaded, question)
    text = plain(report.find(address).value, as_fraction=exact)
    emit(f"{text}\n", report.warnings)


@app.command("explain")
def explain(
    model: opt.ModelArgument,
    address: opt.Address,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    ctx: opt.Ctx = None,
    batch: opt.Batch = 1,
    phase: opt.PhaseOption = "token",
    scores: opt.ScoresOption = "full",
    logits: opt.LogitsOption = "all",
    source: opt.Source = None,
    mla: opt.MlaOption = None,
    macs: opt.Macs = False,
    prompt: opt.Prompt = None,
    new: opt.New = 100,
    dtype: opt.Dtype = "fp16",
    weights: opt.Weights = None,
    kv: opt.Kv = None,
    depth: Annotated[
        int | None, typer.Option(metavar="N", help="levels of names; default: as a line allows")
    ] = None,
    fmt: Annotated[ExplainFormat, typer.Option("--format", help="how it is written")] = "table",
) -> None:
    """How a figure came to be: formula, steps and letters."""
    from txcalc.explain import explain as explained
    from txcalc.render.explanation import as_json, as_table

    question = Question(
        ctx=ctx, batch=batch, phase=phase, scores=scores, logits=logits, source=source, mla=mla,
        macs=macs, prompt=prompt, new=new, dtype=dtype, weights=weights, kv=kv,
    )  # fmt: skip
    [loaded] = Models([model], changes, type_, strict).load()
    report = ask.report_of(address, loaded, question)
    explanation = explained(loaded, report, address, depth)
    emit(as_json(explanation) if fmt == "json" else as_table(explanation), report.warnings)


@app.command("sweep")
def sweep(
    model: opt.ModelArgument,
    addresses: Annotated[
        list[str], typer.Argument(metavar="ADDRESS...", autocompletion=opt.addresses)
    ],
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="ctx=512:131072:x2, batch=1:64, n_layers=12:48:+12, model=gpt2-small,gpt3; "
            "several form a product, the last varies fastest",
        ),
    ] = None,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    ctx: opt.Ctx = None,
    batch: opt.Batch = 1,
    phase: opt.PhaseOption = "token",
    scores: opt.ScoresOption = "full",
    logits: opt.LogitsOption = "all",
    source: opt.Source = None,
    mla: opt.MlaOption = None,
    macs: opt.Macs = False,
    prompt: opt.Prompt = None,
    new: opt.New = 100,
    dtype: opt.Dtype = "fp16",
    weights: opt.Weights = None,
    kv: opt.Kv = None,
    fmt: Annotated[SweepFormat, typer.Option("--format", help="json is a line a point")] = "table",
) -> None:
    """Figures over ranges of letters, dimensions and models."""
    from txcalc.axes import axes
    from txcalc.cli.stream import stream
    from txcalc.sweep import Sweep

    question = Question(
        ctx=ctx, batch=batch, phase=phase, scores=scores, logits=logits, source=source, mla=mla,
        macs=macs, prompt=prompt, new=new, dtype=dtype, weights=weights, kv=kv,
    )  # fmt: skip
    swept = Sweep(
        model=model,
        addresses=addresses,
        axes=axes(over or []),
        question=question,
        changes=changes or (),
        type_=type_,
    )
    if fmt == "table":
        from txcalc.render.points import as_table

        emit(as_table(swept), [])
    else:
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
    from txcalc.render.verdicts import as_github, as_json, as_table

    found = [verdict for path in paths for verdict in verdicts(path)]
    if write:
        from txcalc.claims.refresh import refresh

        found = refresh(found)
    shown = {"table": as_table, "json": as_json, "github": as_github}[fmt]
    emit(shown(found), [])
    wrong = [verdict for verdict in found if not verdict.holds]
    if wrong:
        raise typer.Exit(2 if any(verdict.unreadable for verdict in wrong) else 1)
