"""Commands that ask one account about models: one function a command."""

from typing import Annotated

import typer

from txcalc.accounts import ask
from txcalc.accounts.catalogue import Kind
from txcalc.accounts.question import Question
from txcalc.cli import options as opt
from txcalc.cli.app import app
from txcalc.cli.output import Models, answer, emit
from txcalc.errors import UnknownModelError
from txcalc.render.text import render
from txcalc.sources import bundled
from txcalc.sources.load import load


@app.command("params")
def params(
    models: opt.ModelArguments = None,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    tensors: Annotated[
        bool, typer.Option("--tensors", help="every weight with its dims, copies and count")
    ] = False,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """Parameters by component, and in total."""
    answer(
        "params",
        Models(models, changes, type_, strict),
        Question(),
        fmt,
        "tensors" if tensors else "figures",
        explain=explain,
    )


@app.command("flops")
def flops(
    models: opt.ModelArguments = None,
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
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """FLOPs of a token or a pass, with the score products."""
    question = Question(
        ctx=ctx,
        batch=batch,
        phase=phase,
        scores=scores,
        logits=logits,
        source=source,
        mla=mla,
        macs=macs,
    )
    answer("flops", Models(models, changes, type_, strict), question, fmt, explain=explain)


@app.command("kvcache")
def kvcache(
    models: opt.ModelArguments = None,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    ctx: opt.Ctx = None,
    batch: opt.Batch = 1,
    source: opt.Source = None,
    dtype: opt.Dtype = "fp16",
    kv: opt.Kv = None,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """Bytes of KV cache, and which layers keep them."""
    question = Question(ctx=ctx, batch=batch, source=source, dtype=dtype, kv=kv)
    answer("kvcache", Models(models, changes, type_, strict), question, fmt, explain=explain)


@app.command("intensity")
def intensity(
    models: opt.ModelArguments = None,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    prompt: opt.Prompt = None,
    batch: opt.Batch = 1,
    ctx: opt.Ctx = None,
    source: opt.Source = None,
    dtype: opt.Dtype = "fp16",
    weights: opt.Weights = None,
    kv: opt.Kv = None,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """FLOPs per byte moved, prefill against decode."""
    question = Question(
        prompt=prompt, batch=batch, ctx=ctx, source=source, dtype=dtype, weights=weights, kv=kv
    )
    answer("intensity", Models(models, changes, type_, strict), question, fmt, explain=explain)


@app.command("concurrency")
def concurrency(
    models: opt.ModelArguments = None,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    ctx: opt.Ctx = None,
    source: opt.Source = None,
    dtype: opt.Dtype = "fp16",
    weights: opt.Weights = None,
    kv: opt.Kv = None,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """How many sequences outweigh the weights."""
    question = Question(ctx=ctx, source=source, dtype=dtype, weights=weights, kv=kv)
    answer("concurrency", Models(models, changes, type_, strict), question, fmt, explain=explain)


@app.command("generation")
def generation(
    models: opt.ModelArguments = None,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    prompt: opt.GenerationPrompt = 20,
    new: opt.New = 100,
    source: opt.Source = None,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """What a cache saves when text is generated."""
    question = Question(prompt=prompt, new=new, source=source)
    answer(
        "generation",
        Models(models, changes, type_, strict),
        question,
        fmt,
        "steps",
        explain=explain,
    )


@app.command("shapes")
def shapes(
    model: opt.ModelArgument,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    batch: opt.Batch = 1,
    tokens: Annotated[int, typer.Option(metavar="T", help="tokens of each sequence")] = 8,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """The shape at every point of a block."""
    answer(
        "shapes",
        Models([model], changes, type_, strict),
        Question(batch=batch, tokens=tokens),
        fmt,
        "shapes",
        explain=explain,
    )


@app.command("show")
def show(
    model: opt.ModelArgument,
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: opt.Strict = False,
    ctx: opt.Ctx = None,
    source: opt.Source = None,
    dtype: opt.Dtype = "fp16",
    weights: opt.Weights = None,
    kv: opt.Kv = None,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """A model on one screen: every account in brief."""
    question = Question(ctx=ctx, source=source, dtype=dtype, weights=weights, kv=kv)
    answer("show", Models([model], changes, type_, strict), question, fmt, explain=explain)


@app.command("models")
def models_(
    having: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="parts of the names to list")
    ] = None,
    kind: Annotated[Kind | None, typer.Option(help="only models of a kind")] = None,
    fmt: opt.FormatOption = "table",
) -> None:
    """The bundled models by kind, with totals and sources."""
    named = [n for n in bundled.names() if not having or any(text in n for text in having)]
    chosen = [load(name) for name in named]
    reports = [ask.account("catalogue", model, Question()) for model in chosen]
    if kind:
        reports = [report for report in reports if report.notes["params.total"] == kind]
    if not reports:
        raise UnknownModelError(
            f"no bundled model is {' or '.join([*(having or []), *(kind or [])])}"
        )
    emit(render(reports, fmt, "catalogue"), [])
