"""The arguments and options that commands share, each defined once."""

from functools import partial
from typing import Annotated, Any, get_args, get_type_hints

import typer

from txcalc.accounts.options import AMOUNTS, meaning
from txcalc.cli import completion
from txcalc.errors import OptionError
from txcalc.render import Format
from txcalc.sources import bundled
from txcalc.workload.amount import whole_amount
from txcalc.workload.question import Question


def whole(text: str | int) -> int:
    """A number as it may be written on the command line."""
    from txcalc.report.sizes import whole

    try:
        return whole(str(text))
    except OptionError as error:
        raise typer.BadParameter(str(error)) from None


def _amount(name: str, text: str | int) -> int:
    try:
        return whole_amount(name, str(text))
    except OptionError as error:
        raise typer.BadParameter(str(error)) from None


def _device(name: str) -> Any:
    from txcalc.sources.devices import load_device

    return load_device(name)


def _checkpoint(path: str) -> Any:
    from txcalc.sources.checkpoints import load_checkpoint

    return load_checkpoint(path)


MODEL = (
    "a bundled name (see 'txcalc models'), a YAML or GGUF file, a config.json or its folder, or -"
)
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help=MODEL, autocompletion=completion.model_names)
]
ModelArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MODEL]...",
        help=f"{MODEL}; several stand side by side; default: {' '.join(bundled.DOCUMENTED)}",
        autocompletion=completion.model_names,
        show_default=False,
    ),
]
Address = Annotated[
    str,
    typer.Argument(
        metavar="ADDRESS", help="a figure, as params.total", autocompletion=completion.addresses
    ),
]
Addresses = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ADDRESS...",
        help="figures, or arithmetic over them; MODEL may be left out with --over model=A,B",
        autocompletion=completion.addresses,
        show_default=False,
    ),
]
Over = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUES",
        help="ctx=512:131072:x2, batch=1:64, n_layers=12:48:+12, model=gpt2-small,gpt3; "
        "several form a product, the last varies fastest",
        autocompletion=completion.axes,
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=V",
        help="change a dimension wherever it stands (n_layers=48, d_ff=4*d_model) or one field "
        "by its path (ffn.kind=glu); repeatable, in any order",
        autocompletion=completion.changes,
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
    int | None,
    typer.Option(parser=whole, metavar="N", help="levels of addresses; default: as a line allows"),
]
FormatOption = Annotated[Format, typer.Option("--format", help="how the answer is written")]


_METAVARS = {
    "ctx": "T", "source": "S", "batch": "B", "prompt": "P", "new": "N", "tokens": "T",
    "dtype": "FMT", "weights": "FMT[,ROLE=FMT]...", "kv": "FMT[,ROW=FMT]...",
    "tp": "N", "pp": "N", "dp": "N", "dcp": "N", "stages": "N,N...",
    "block_size": "T", "max_batched_tokens": "T", "ubatch": "T", "step_tokens": "T",
    "device": "NAME", "count": "N", "requests": "N", "kv_memory": "GIB", "utilisation": "SHARE",
    "overhead": "GIB", "checkpoint": "PATH", "micro_batch": "B", "microbatches": "N",
    "train_tokens": "D", "gpus": "N",
    "link": "NAME", "efficiency": "SHARE", "mbu": "SHARE", "price": "USD",
    "mfu": "SHARE", "throughput": "TOKENS_PER_S", "days": "DAYS", "lora": "RANK[:TARGET,...]",
    "dropout": "SHARE",
}  # fmt: skip
_FILES = {"device": _device, "checkpoint": _checkpoint}
"""Options that are read from a file, each with what reads it."""
_COMPLETED = {
    "dtype": completion.numbers, "weights": completion.weights, "kv": completion.caches,
}  # fmt: skip


def asked(name: str) -> Any:
    """An option of a question, None where it is not given."""
    hint = get_type_hints(Question)[name]
    option = typer.Option(
        f"--{name.replace('_', '-')}", help=meaning(name), metavar=_METAVARS.get(name)
    )
    if hint is bool:
        return Annotated[bool, option]
    if name in AMOUNTS:
        option.parser, hint = partial(_amount, name), int
    elif int in (hint, *get_args(hint)):
        option.parser, hint = whole, int
    if name in _FILES:
        option.parser = _FILES[name]
        return Annotated[Any, option]
    option.autocompletion = _COMPLETED.get(name)
    return Annotated[hint | None, option]
