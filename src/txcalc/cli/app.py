"""The application: its commands, of which only the one that is called is built."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated

import typer

import txcalc

ACCOUNTS = {
    "params": "Parameters by component, and in total.",
    "flops": "FLOPs of a token or a pass, with the score products.",
    "kvcache": "Bytes of KV cache, and which layers keep them.",
    "image": "Patches and tokens of images, by the rule of a model.",
    "audio": "Frames and tokens of sound, by the rule of a model.",
    "intensity": "FLOPs per byte moved, prefill against decode.",
    "concurrency": "How many sequences outweigh the weights.",
    "memory": "Memory of each GPU of a layout, and of all of them.",
    "fit": "What fits on GPUs, or which GPUs and models do.",
    "train": "FLOPs, days and utilisation of training.",
    "trainmem": "Activations kept for a backward pass, by tensor.",
    "roofline": "Time at best: what bounds each operation, tokens/s.",
    "regimes": "From which context on scores and caches dominate.",
    "compare": "Models side by side, the best of each row marked.",
    "generation": "What a cache saves when text is generated.",
    "shapes": "The shape at every point of a block.",
    "show": "A model on one screen: every account in brief.",
}
TOOLS = {
    "models": "The bundled models by kind, with totals and sources.",
    "devices": "The bundled accelerators: memory, bandwidth, peaks, links.",
    "addresses": "Every address of a model's figures, one a line.",
    "import": "The YAML description that a config.json means.",
    "get": "One number and nothing else.",
    "explain": "How a figure came to be: formula, steps and letters.",
    "sweep": "Figures over ranges of letters, dimensions and models.",
    "solve": "The least number of a letter at which A >= B.",
    "check": "Documented numbers against computed ones.",
    "prove": "A description run: every count beside its account.",
    "page": "A page to play with: sliders, formulas, charts, in one file.",
    "plot": "Pictures of sweeps, memory and parameters, by matplotlib.",
    "verify": "Whether a weights file holds the model, by its header.",
}
COMMANDS = ACCOUNTS | TOOLS
"""Every command by name, with its help in one line."""


def application(words: list[str]) -> typer.Typer:
    """The command line that ``words`` call.

    A command's module is imported where it is called, or where all are (no words); of the others
    only names and helps are known.
    """
    app = typer.Typer(
        help=txcalc.__doc__,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True)(_root)
    called = next((word for word in words if not word.startswith("-")), "")
    all_of_them = not words or "_TXCALC_COMPLETE" in os.environ
    for name in [called] if called in COMMANDS else COMMANDS:
        is_built = all_of_them or name == called
        epilog = _examples(name) if set(words) & {"-h", "--help"} else None
        if name == "plot" and is_built:
            app.add_typer(_plots(epilog), name=name)
        else:
            function = _command(name) if is_built else _unbuilt
            app.command(name, help=COMMANDS[name], epilog=epilog)(function)
    return app


def _examples(name: str) -> str:
    """The examples of a command, each a line of its own."""
    from txcalc.cli.examples import EXAMPLES

    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in EXAMPLES[name])])


def _command(name: str) -> Callable[..., None]:
    """The function of a command, its module imported only now."""
    if name == "fit":
        from txcalc.cli import fit

        return fit.command()
    if name in ACCOUNTS:
        from txcalc.cli.accounts import command

        return command(name)
    from txcalc.cli.tools import COMMANDS

    return COMMANDS[name]


def _plots(epilog: str | None) -> typer.Typer:
    """The commands below ``plot``."""
    from txcalc.cli.plot import application

    return application(COMMANDS["plot"], epilog)


def _unbuilt() -> None:
    """A command in a list of commands."""


def _root(
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    if version:
        print(txcalc.__version__)
        raise typer.Exit
