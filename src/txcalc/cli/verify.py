"""``txcalc verify``: whether a weights file holds the model that its description states."""

from __future__ import annotations

from typing import Annotated

import typer

from txcalc.cli import options as opt
from txcalc.cli.output import emit


def verify(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] CHECKPOINT",
            help="MODEL may be left out beside a config.json, or of a GGUF file; CHECKPOINT is a "
            ".safetensors or .gguf file, a folder or an index of such files, or hf:org/name",
        ),
    ],
    changes: opt.Changes = None,
    type_: opt.Type = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="buffers and what is stored though tied differ too")
    ] = False,
    fmt: opt.FormatOption = "table",
) -> None:
    """Exits with 1 where something differs, 2 where a file cannot be read."""
    import msgspec

    from txcalc.accounts import registry
    from txcalc.accounts.verify import verdict
    from txcalc.render import render
    from txcalc.sources.checkpoints import load_checkpoint, model_beside
    from txcalc.sources.loading import load
    from txcalc.workload.question import Question

    if len(words) > 2:
        raise typer.BadParameter("one MODEL and one CHECKPOINT")
    path = words[-1]
    model = load(words[0] if len(words) == 2 else model_beside(path), changes or (), type_=type_)
    report = registry.account("verify", model, Question(checkpoint=load_checkpoint(path)))
    holds, sentence = verdict(report, strict=strict)
    report = msgspec.structs.replace(report, lead=[sentence, *report.lead])
    emit(render([report], fmt, "differences"), report.warnings)
    if not holds:
        raise typer.Exit(1)
