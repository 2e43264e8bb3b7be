"""Parameters of commands that stand for several options each: models, a question, and views."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from txcalc.cli import options as opt
from txcalc.cli.output import Models

Command = Callable[..., None]
Given = dict[str, Any]
"""The options of a question that were given, by name."""
_Group = tuple[list[inspect.Parameter], Callable[..., Any]]
"""Options, and what makes one argument of them."""


def with_options(
    command: Command, *, reads: Sequence[str], one: bool = False, views: Mapping[Any, str] = {}
) -> Command:
    """The command with options in the place of its parameters ``models``, ``given`` and ``view``.

    ``reads`` are options of a question; a command about ``one`` model takes no more; ``views`` are
    names of flags, with their help, of which the first that is given is the ``view``.
    """
    groups: dict[str, _Group] = {
        "models": (_models(one=one), _read_models),
        "given": ([_option(name, opt.asked(name), None) for name in reads], _given),
        "view": ([_flag(name, meaning) for name, meaning in views.items()], _first),
    }
    signature = inspect.signature(command, eval_str=True)
    read = {name: group for name, group in groups.items() if name in signature.parameters}
    parameters = [
        option
        for name, parameter in signature.parameters.items()
        for option in (read[name][0] if name in read else [_by_name(parameter)])
    ]

    @wraps(command)
    def called(**values: Any) -> None:
        for name, (options, make) in read.items():
            values[name] = make(**{option.name: values.pop(option.name) for option in options})
        command(**values)

    vars(called)["__signature__"] = signature.replace(parameters=parameters)
    called.__annotations__ = {p.name: p.annotation for p in parameters}
    return called


def _given(**options: Any) -> Given:
    return {n: value for n, value in options.items() if value is not None and value is not False}


def _first(**flags: bool) -> str | None:
    return next((name for name, is_set in flags.items() if is_set), None)


def _models(*, one: bool) -> list[inspect.Parameter]:
    if one:
        model = _option("model", opt.ModelArgument, inspect.Parameter.empty)
    else:
        model = _option("model", opt.ModelArguments, None)
    return [
        model,
        _option("changes", opt.Changes, None),
        _option("type_", opt.Type, None),
        _option("strict", opt.Strict, default=False),
    ]


def _read_models(model: list[str] | str | None, **how: Any) -> Models:
    return Models([model] if isinstance(model, str) else model, **how)


def _flag(name: str, meaning: str) -> inspect.Parameter:
    flag = Annotated[bool, typer.Option(f"--{name}", help=meaning)]
    return _option(name, flag, default=False)


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _by_name(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter in a place where some without a default may follow those with one."""
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
