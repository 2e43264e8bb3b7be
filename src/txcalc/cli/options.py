"""The arguments and options that commands share, each said once."""

from functools import partial
from typing import Annotated, Any

import typer

from txcalc.accounts import registry
from txcalc.accounts.options import KNOWN
from txcalc.errors import OptionError, TxcalcError
from txcalc.render import Format
from txcalc.sources import bundled
from txcalc.sources.loading import load
from txcalc.workload.engine import EngineName
from txcalc.workload.formats import NUMBERS
from txcalc.workload.passes import Logits, Mla, Phase, Scores
from txcalc.workload.question import PROMPT, Question


def model_names(incomplete: str) -> list[str]:
    """Completes a bundled model."""
    return [name for name in bundled.names() if name.startswith(incomplete)]


def addresses(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes an address of the model before it."""
    try:
        model = load(ctx.params["model"])
        reports = [registry.account(name, model, Question()) for name in registry.WITH_FIGURES]
    except (TxcalcError, KeyError):
        return []
    names = (report.short(address) for report in reports for address in report.figures)
    return [name for name in names if name.startswith(incomplete)]


def _whole(text: str | int) -> int:
    from txcalc.report.sizes import whole

    try:
        return whole(str(text))
    except OptionError as error:
        raise typer.BadParameter(str(error)) from None


_number = partial(typer.Option, parser=_whole)

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
Addresses = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ADDRESS...",
        help="figures, or arithmetic over them; MODEL may be left out with --over model=A,B",
        autocompletion=addresses,
        show_default=False,
    ),
]
Over = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUES",
        help="ctx=512:131072:x2, batch=1:64, n_layers=12:48:+12, model=gpt2-small,gpt3; "
        "several form a product, the last varies fastest",
    ),
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


def _asked(kind: Any, option: Any, default: object = None) -> Any:
    """An option of a question: None where it is not given, its default in the help."""
    option.help += "" if default is None else f"; default: {default}"
    return Annotated[kind | None, option]


_DEFAULT = Question()
_option = typer.Option
QUESTION: dict[str, Any] = {
    "ctx": _asked(int, _number(metavar="T", help="context in tokens; default: the model's own")),
    "source": _asked(
        int,
        _number(
            metavar="S",
            help="the encoder's length in tokens; default: what inputs are padded to, else ctx",
        ),
    ),
    "batch": _asked(int, _number(metavar="B", help="sequences at once"), _DEFAULT.batch),
    "prompt": _asked(
        int, _number(metavar="P", help=f"prompt; default: ctx, {PROMPT} for generation")
    ),
    "new": _asked(int, _number(metavar="N", help="tokens to generate"), _DEFAULT.new),
    "tokens": _asked(int, _number(metavar="T", help="tokens of each sequence"), _DEFAULT.tokens),
    "phase": _asked(Phase, _option(help="what is run"), _DEFAULT.phase),
    "scores": _asked(Scores, _option(help="which attention products count"), _DEFAULT.scores),
    "logits": _asked(Logits, _option(help="positions whose logits are computed"), _DEFAULT.logits),
    "macs": Annotated[bool, _option("--macs", help="multiply-adds instead of FLOPs")],
    "mla": _asked(
        Mla, _option(help="form of latent attention; default: absorbed in decode, else expanded")
    ),
    "dtype": _asked(
        str, _option(metavar="FMT", help=f"number format: {', '.join(NUMBERS)}"), _DEFAULT.dtype
    ),
    "weights": _asked(
        str,
        _option(
            metavar="FMT[,ROLE=FMT]...",
            help="format of the weights, or a scheme as fp8-channel; default: --dtype",
        ),
    ),
    "kv": _asked(
        str,
        _option(metavar="FMT[,ROW=FMT]...", help="format of the cache; default: --dtype"),
    ),
    "mtp": Annotated[bool, _option("--mtp", help="multi-token-prediction modules too")],
    "tp": _asked(int, _number("--tp", metavar="N", help="GPUs that divide heads and widths"), 1),
    "pp": _asked(int, _number("--pp", metavar="N", help="stages that divide the layers"), 1),
    "dp": _asked(int, _number("--dp", metavar="N", help="groups with requests of their own"), 1),
    "dcp": _asked(int, _number("--dcp", metavar="N", help="GPUs that divide a cache by tokens"), 1),
    "ep": Annotated[bool, _option("--ep", help="whole experts on GPUs, not slices of each")],
    "stages": _asked(
        str, _option(metavar="N,N...", help="layers of each stage; default: as equal as possible")
    ),
    "engine": _asked(EngineName, _option(help="whose rules of allocation count"), "none"),
    "block_size": _asked(
        int, _number("--block-size", metavar="T", help="tokens of a block of an engine's cache"), 16
    ),
    "max_batched_tokens": _asked(
        int, _number("--max-batched-tokens", metavar="T", help="tokens of a step at most"), 8192
    ),
    "ubatch": _asked(
        int, _number("--ubatch", metavar="T", help="tokens that llama.cpp computes at once"), 512
    ),
    "step_tokens": _asked(
        int, _number("--step-tokens", metavar="T", help="tokens of a step; default: batch")
    ),
}
"""The options of a question by name."""
FIGURE = tuple(name for name in QUESTION if name in KNOWN)
"""Those that one figure may depend on."""
