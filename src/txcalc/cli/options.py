"""The arguments and options that commands share, each said once."""

from functools import partial
from typing import Annotated

import typer

from txcalc.accounts import ask
from txcalc.accounts.question import PROMPT, Question
from txcalc.errors import TxcalcError
from txcalc.render import Format
from txcalc.report.format import whole
from txcalc.sources import bundled
from txcalc.sources.loading import load
from txcalc.workload.formats import FORMATS
from txcalc.workload.passes import Logits, Mla, Phase, Scores


def model_names(incomplete: str) -> list[str]:
    """Completes a bundled model."""
    return [name for name in bundled.names() if name.startswith(incomplete)]


def addresses(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes an address of the model before it."""
    try:
        model = load(ctx.params["model"])
        reports = [ask.account(name, model, Question()) for name in ask.ACCOUNTS]
    except (TxcalcError, KeyError):
        return []
    names = (report.short(address) for report in reports for address in report.figures)
    return [name for name in names if name.startswith(incomplete)]


def _plain(text: str | int) -> int:
    number = whole(str(text))
    if number is None:
        raise typer.BadParameter(f"{str(text)[:40]!r} is no whole number in plain digits")
    return number


_number = partial(typer.Option, parser=_plain)

MODEL = "a bundled name (see 'txcalc models'), a YAML file, a config.json or its folder, or -"
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help=MODEL, autocompletion=model_names)
]
ModelArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MODEL]...",
        help=f"{MODEL}; several stand side by side; default: {' '.join(bundled.DOCUMENTED)}",
        autocompletion=model_names,
        show_default=False,
    ),
]
Address = Annotated[
    str,
    typer.Argument(metavar="ADDRESS", help="a figure, as params.total", autocompletion=addresses),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=V",
        help="change a dimension wherever it stands (n_layers=48) or one field by its path "
        "(ffn.kind=glu); repeatable",
        show_default=False,
    ),
]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="model_type of a config.json that names none"),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="an error where a config.json has keys that nothing reads")
]
Explain = Annotated[bool, typer.Option("--explain", help="the formula of every row")]
Depth = Annotated[
    int | None, _number(metavar="N", help="levels of names; default: as a line allows")
]
FormatOption = Annotated[Format, typer.Option("--format", help="how the answer is written")]
Ctx = Annotated[
    int | None,
    _number(metavar="T", help="context in tokens; default: the model's own"),
]
Source = Annotated[
    int | None,
    _number(metavar="S", help="the encoder's length in tokens; default: ctx"),
]
Batch = Annotated[int, _number(metavar="B", help="sequences at once")]
Prompt = Annotated[
    int | None,
    _number(metavar="P", help=f"prompt; default: ctx, {PROMPT} for generation"),
]
New = Annotated[int, _number(metavar="N", help="tokens to generate")]
Tokens = Annotated[int, _number(metavar="T", help="tokens of each sequence")]
PhaseOption = Annotated[Phase, typer.Option(help="what is run")]
ScoresOption = Annotated[Scores, typer.Option(help="which attention products count")]
LogitsOption = Annotated[Logits, typer.Option(help="positions whose logits are computed")]
MlaOption = Annotated[
    Mla | None,
    typer.Option(
        "--mla", help="form of latent attention; default: absorbed in decode, else expanded"
    ),
]
Macs = Annotated[bool, typer.Option("--macs", help="multiply-adds instead of FLOPs")]
Dtype = Annotated[str, typer.Option(metavar="FMT", help=f"number format: {', '.join(FORMATS)}")]
Weights = Annotated[
    str | None, typer.Option(metavar="FMT", help="format of the weights; default: --dtype")
]
Kv = Annotated[
    str | None, typer.Option("--kv", metavar="FMT", help="format of the cache; default: --dtype")
]
