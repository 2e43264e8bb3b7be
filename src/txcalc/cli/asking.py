"""Parameters of commands that stand for several options each: the models and the question."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from txcalc.accounts.options import KNOWN
from txcalc.cli import options as opt
from txcalc.cli.output import Models
from txcalc.workload.question import Question

_OPTIONS: dict[str, Any] = {
    "ctx": opt.Ctx,
    "batch": opt.Batch,
    "tokens": opt.Tokens,
    "phase": opt.PhaseOption,
    "scores": opt.ScoresOption,
    "logits": opt.LogitsOption,
    "source": opt.Source,
    "mla": opt.MlaOption,
    "macs": opt.Macs,
    "prompt": opt.Prompt,
    "new": opt.New,
    "dtype": opt.Dtype,
    "weights": opt.Weights,
    "kv": opt.Kv,
}
"""The options of a question in the order of a command's help."""
FIGURE = tuple(name for name in _OPTIONS if name in KNOWN)
"""What one figure may depend on."""

Command = Callable[..., None]
_Group = tuple[list[inspect.Parameter], Callable[..., Any]]
"""Options, and what makes one argument of them."""


def asking(*names: str, one: bool = False) -> Callable[[Command], Command]:
    """Gives a command options in the place of its parameters ``models`` and ``question``.

    ``names`` are fields of the question, whose defaults are the options'; a command about ``one``
    model takes no more.
    """
    groups: dict[str, _Group] = {
        "models": (_models(one=one), _read_models),
        "question": (_asked(names), Question),
    }

    def expanded(command: Command) -> Command:
        signature = inspect.signature(command)
        read = {name: group for name, group in groups.items() if name in signature.parameters}
        parameters = [
            option
            for name, parameter in signature.parameters.items()
            for option in (read[name][0] if name in read else [_by_name(parameter)])
        ]

        @wraps(command)
        def called(**given: Any) -> None:
            for name, (options, make) in read.items():
                given[name] = make(**{o.name: given.pop(o.name) for o in options})
            command(**given)

        vars(called)["__signature__"] = signature.replace(parameters=parameters)
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        return called

    return expanded


def _asked(names: tuple[str, ...]) -> list[inspect.Parameter]:
    default = Question()
    return [_option(name, _OPTIONS[name], getattr(default, name)) for name in names]


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


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _by_name(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter in a place where some without a default may follow those with one."""
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
