"""Commands that ask one account about models: one function a command."""

from typing import Annotated

import typer

from txcalc.accounts import ask
from txcalc.accounts.catalogue import Kind
from txcalc.accounts.question import Question
from txcalc.cli import options as opt
from txcalc.cli.app import app
from txcalc.cli.asking import asking
from txcalc.cli.output import Models, answer, emit
from txcalc.errors import UnknownModelError
from txcalc.render import render
from txcalc.sources import bundled
from txcalc.sources.loading import load


@app.command("params")
@asking()
def params(
    models: Models,
    question: Question,
    tensors: Annotated[
        bool, typer.Option("--tensors", help="every weight with its dims, copies and count")
    ] = False,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """Parameters by component, and in total."""
    answer("params", models, question, fmt, "tensors" if tensors else "figures", explain=explain)


@app.command("flops")
@asking("ctx", "batch", "phase", "scores", "logits", "source", "mla", "macs")
def flops(
    models: Models,
    question: Question,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """FLOPs of a token or a pass, with the score products."""
    answer("flops", models, question, fmt, explain=explain)


@app.command("kvcache")
@asking("ctx", "batch", "source", "dtype", "kv")
def kvcache(
    models: Models,
    question: Question,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """Bytes of KV cache, and which layers keep them."""
    answer("kvcache", models, question, fmt, explain=explain)


@app.command("intensity")
@asking("prompt", "batch", "ctx", "source", "dtype", "weights", "kv")
def intensity(
    models: Models,
    question: Question,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """FLOPs per byte moved, prefill against decode."""
    answer("intensity", models, question, fmt, explain=explain)


@app.command("concurrency")
@asking("ctx", "source", "dtype", "weights", "kv")
def concurrency(
    models: Models,
    question: Question,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """How many sequences outweigh the weights."""
    answer("concurrency", models, question, fmt, explain=explain)


@app.command("generation")
@asking("prompt", "new", "source")
def generation(
    models: Models,
    question: Question,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """What a cache saves when text is generated."""
    answer("generation", models, question, fmt, "steps", explain=explain)


@app.command("shapes")
@asking("batch", "tokens", one=True)
def shapes(
    models: Models,
    question: Question,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """The shape at every point of a block."""
    answer("shapes", models, question, fmt, "shapes", explain=explain)


@app.command("show")
@asking("ctx", "source", "dtype", "weights", "kv", one=True)
def show(
    models: Models,
    question: Question,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """A model on one screen: every account in brief."""
    answer("show", models, question, fmt, explain=explain)


@app.command("models")
def models_(
    having: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="parts of the names to list")
    ] = None,
    kind: Annotated[Kind | None, typer.Option(help="only models of a kind")] = None,
    explain: opt.Explain = False,
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
    emit(render(reports, fmt, "catalogue", explain=explain), [])
