"""What a shell offers after the words of a command: names, addresses, formats and changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from txcalc.model.model import Model


def model_names(incomplete: str) -> list[str]:
    """Bundled models."""
    from txcalc.sources import bundled

    return [name for name in bundled.names() if name.startswith(incomplete.lower())]


def addresses(ctx: typer.Context, incomplete: str) -> list[str]:
    """Addresses of the model before them."""
    from txcalc.accounts import registry

    return _starting(
        incomplete, (a for model in _models(ctx) for a in registry.addresses_of(model))
    )


def changes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Dimensions of the model that ``--set`` changes."""
    return _starting(incomplete, (f"{name}=" for name in _dimensions(ctx)))


def axes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Letters and dimensions of ``--over``; after ``model=`` the bundled models."""
    from txcalc.workload.question import LETTERS

    *listed, last = incomplete.removeprefix("model=").split(",")
    if incomplete.startswith("model="):
        return [f"model={','.join([*listed, name])}" for name in model_names(last)]
    return _starting(incomplete, (f"{name}=" for name in (*LETTERS, *_dimensions(ctx), "model")))


def numbers(incomplete: str) -> list[str]:
    """Formats of ``--dtype``."""
    from txcalc.workload.formats import NUMBERS

    return _starting(incomplete, NUMBERS)


def weights(incomplete: str) -> list[str]:
    """Formats and schemes of ``--weights``."""
    from txcalc.workload.formats import NUMBERS
    from txcalc.workload.schemes import SCHEMES

    return _starting(incomplete, (*NUMBERS, *SCHEMES))


def caches(incomplete: str) -> list[str]:
    """Formats of ``--kv``."""
    from txcalc.workload.formats import NUMBERS
    from txcalc.workload.schemes import CACHE_ONLY

    return _starting(incomplete, (*NUMBERS, *CACHE_ONLY))


def _dimensions(ctx: typer.Context) -> list[str]:
    return [letter.name for model in _models(ctx) for letter in model.dims.values()]


def _models(ctx: typer.Context) -> list[Model]:
    """The models before a word, as far as they are on this machine and not on standard input.

    Behind an option without its value yet, arguments are not read: the model is the first of them.
    """
    from txcalc.errors import TxcalcError
    from txcalc.sources.loading import load

    named = ctx.params.get("model") or ctx.args[:1]
    names = [named] if isinstance(named, str) else named
    try:
        return [load(name) for name in names if name != "-" and not name.startswith("hf:")]
    except TxcalcError:
        return []


def _starting(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]
