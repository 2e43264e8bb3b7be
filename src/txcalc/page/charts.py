"""What the charts of a page draw beside figures: sums that have no address of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from txcalc.accounts import registry
from txcalc.accounts.fold import run
from txcalc.accounts.params import by_role
from txcalc.exact.quantity import Quantity, product, total
from txcalc.model.model import Model
from txcalc.page.components import COMPONENTS
from txcalc.workload.question import Question

Node = Callable[[Quantity], int]


def charts(model: Model, question: Question, node: Node) -> dict[str, Any]:
    """Nodes of components and of a token's FLOPs, and the order of layers."""
    return {
        "components": _components(model, node),
        "token": _token(model, question, node),
        "stacks": [
            {"name": name, "first": stack.first, "pattern": stack.pattern, "last": stack.last,
             "count": node(stack.count)}
            for name, stack in model.stacks.items()
        ],
    }  # fmt: skip


def _components(model: Model, node: Node) -> list[list[Any]]:
    """Name, colour and parameters of each component that the model has."""
    sums: dict[tuple[str, str], list[Quantity]] = {}
    for role, quantity in by_role(model).items():
        if role in COMPONENTS and quantity.value:
            sums.setdefault(COMPONENTS[role], []).append(quantity)
    order = dict.fromkeys(COMPONENTS.values())
    return [
        [name, tone, node(total(sums[name, tone], "parameters"))]
        for name, tone in order
        if (name, tone) in sums
    ]


def _token(model: Model, question: Question, node: Node) -> list[list[Any]]:
    """Name, colour and FLOPs of the parts of one token's pass, scores last."""
    if not model.has_decoder or any(kind.block.partial for kind in model.layers):
        return []
    asked = msgspec.structs.replace(question, phase="token")
    figures = registry.account("flops", model, asked).figures
    parts = {
        ("projections", "attention"): ["projections"],
        ("cross-attention", "attention"): ["cross_attention"],
        ("state space", "rest"): ["ssm"],
        ("FFN", "ffn"): ["ffn"],
    }
    sums = {key: _over_layers(model, figures, names) for key, names in parts.items()}
    sums["head", "head"] = figures["flops.head"]
    scores = _over_layers(model, figures, ["scores"])
    named = [[*key, node(q)] for key, q in sums.items() if q.value]
    return [*named, ["scores", "mark", node(scores)]] if scores.value else named


def _over_layers(model: Model, figures: Mapping[str, Quantity], names: list[str]) -> Quantity:
    return total(
        (
            product(run(kind), figures[f"flops.block.{kind.name}.{name}"])
            for kind in model.decoder_layers
            for name in names
        ),
        "FLOPs",
    )
