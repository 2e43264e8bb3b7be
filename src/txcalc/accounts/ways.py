"""What fits of a model on GPUs with the options given, and what would with others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from txcalc.accounts.budget import Budget
from txcalc.errors import RefusedError, TxcalcError
from txcalc.exact.quantity import Letter, Quantity
from txcalc.model.cut import group_sizes
from txcalc.model.model import Model
from txcalc.report.report import Figures, Way
from txcalc.workload.question import Question

SCHEMES = ("fp8-channel", "awq-g128")
MIXES = ("Q8_0", "Q4_K_M")
"""Narrower weights: schemes of checkpoints, and of llama.cpp's files."""
CACHES = ("fp8",)
BLOCKS = ("q8_0", "q4_0")
"""Narrower caches: of engines, and of llama.cpp."""
MOST = 1024
"""GPUs that are tried at most."""


def fitted(model: Model, question: Question) -> tuple[Figures, Budget]:
    """All figures, the least of all stages each, and the stage that holds fewest requests.

    Raises:
        RefusedError: a model whose sequences keep nothing.
    """
    stages = [Budget(model, question, stage) for stage in range(question.pp)]
    answers = [(stage, stage.held() | stage.longest()) for stage in stages]
    holding = [(stage, of_stage) for stage, of_stage in answers if of_stage]
    if not holding:
        raise RefusedError(f"{model.name}: no fit: its sequences keep nothing between steps")
    tightest, _ = min(
        holding, key=lambda each: (each[1]["fit.sequences"].value, -each[0].missing.value)
    )
    figures = tightest.subtraction()
    for name in dict.fromkeys(name for _, of_stage in holding for name in of_stage):
        each = (of_stage[name] for _, of_stage in holding if name in of_stage)
        figures[name] = min(each, key=lambda quantity: quantity.value)
    figures["fit.missing"] = max((s.missing for s in stages), key=lambda missing: missing.value)
    return figures, tightest


def requests_held(figures: Figures) -> Quantity:
    """Requests that fit: as the engine allocates, or without one by the bound."""
    return figures.get("fit.engine.sequences", figures["fit.sequences"])


def longest(figures: Figures) -> Quantity | None:
    """The longest context of the requests, likewise; None where any fits, or none does."""
    context = figures.get("fit.engine.context", figures.get("fit.context"))
    return context if context is not None and context.value else None


def holds(question: Question, figures: Figures) -> bool:
    """Whether all the requests fit."""
    fit = requests_held(figures).value >= question.requests
    return fit and not figures["fit.missing"].value


def least_gpus(model: Model, question: Question, above: int = 0) -> Iterator[tuple[int, Quantity]]:
    """Sizes of a tensor-parallel group that a model can have, and what each of its GPUs needs.

    Bytes of the stage that needs most, for the requests.
    """
    for tp in group_sizes(model, MOST):
        if tp <= above:
            continue
        asked = msgspec.structs.replace(question, tp=tp, count=None)
        try:
            each = [Budget(model, asked, stage).required for stage in range(question.pp)]
        except TxcalcError:
            continue
        yield tp, max(each, key=lambda needed: needed.value)


def ways(model: Model, question: Question, figures: Figures) -> list[Way]:
    """What would make more of the requests fit, each with its numbers; none where all do."""
    if holds(question, figures):
        return []
    narrower = list(_narrower(model, question))
    better = [(change, held) for change, held in narrower if _is_better(held, figures)]
    listed = [_way(change, held) for change, held in better]
    if not any(holds(question, held) for _, held in better):
        listed += _both(model, question, figures, [change for change, _ in narrower])
    listed += _more_gpus(model, question)
    if (context := longest(figures)) is not None:
        asked = Letter(question.requests, "requests")
        listed.append(Way(f"a context of at most {context.value:,}", asked, context))
    return listed


def _narrower(model: Model, question: Question) -> Iterator[tuple[dict[str, Any], Figures]]:
    """What fits with narrower weights, and with narrower caches."""
    is_llamacpp = question.engine == "llamacpp"
    weights = MIXES if is_llamacpp else ("own", *SCHEMES) if model.stored else SCHEMES
    formats = {
        "weights": () if question.device is None else weights,
        "kv": BLOCKS if is_llamacpp else CACHES,
    }
    for option, names in formats.items():
        for name in names:
            if (held := _tried(model, question, {option: name})) is not None:
                yield {option: name}, held


def _both(
    model: Model, question: Question, figures: Figures, tried: list[dict[str, Any]]
) -> list[Way]:
    """The narrowest weights together with the narrowest cache."""
    change = {option: name for each in tried for option, name in each.items()}
    held = _tried(model, question, change) if len(change) > 1 else None
    return [_way(change, held)] if held is not None and _is_better(held, figures) else []


def _more_gpus(model: Model, question: Question) -> list[Way]:
    """The least number of GPUs that hold all the requests."""
    device = question.device
    if device is None:
        return []
    for tp, needed in least_gpus(model, question, question.tp):
        if needed.value <= device.memory * question.utilised // 1:
            option = "count" if question.pp == question.dp == 1 else "tp"
            held = _tried(model, question, {"tp": tp, "count": None})
            return [] if held is None else [_way({option: tp}, held)]
    return []


def _tried(model: Model, question: Question, change: dict[str, Any]) -> Figures | None:
    """What fits with other options; None where the model cannot have them.

    Other weights are not those of a checkpoint.
    """
    beside = {"checkpoint": None} if "weights" in change else {}
    try:
        return fitted(model, msgspec.structs.replace(question, **change, **beside))[0]
    except TxcalcError:
        return None


def _is_better(held: Figures, figures: Figures) -> bool:
    """Whether more requests fit, or longer ones."""

    def reached(of: Figures) -> tuple[Any, Any]:
        context = longest(of)
        return requests_held(of).value, 0 if context is None else context.value

    return any(a > b for a, b in zip(reached(held), reached(figures), strict=True))


def _way(change: dict[str, Any], held: Figures) -> Way:
    words = " ".join(f"--{option} {value}" for option, value in change.items())
    return Way(words, requests_held(held), longest(held))
