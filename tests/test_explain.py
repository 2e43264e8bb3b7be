"""What ``explain`` prints, read again: formulas, the numbers put in, steps and legend."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tests.reckoning import FormulaError, reckon
from tests.running import answer, figures

MODELS = {
    "toy": ["params", "flops", "kvcache", "concurrency", "generation"],
    "bart-base": ["params", "flops", "kvcache"],
    "roberta-base": ["params", "intensity"],
}
ASKED = [
    pytest.param(name, address, id=f"{name}-{address}")
    for name, commands in MODELS.items()
    for command in commands
    for address in [*figures(command, name)][::5]
]


@pytest.mark.parametrize(("model", "address"), ASKED)
def test_a_formula_of_letters_and_steps_is_worth_its_figure(model: str, address: str) -> None:
    told = json.loads(answer("explain", model, address, "--format", "json"))
    value = Fraction(told.get("exact", told["value"]))
    names = {symbol["name"]: exact(symbol) for symbol in told["symbols"]}
    names |= {step["address"]: exact(step) for step in told["steps"]}
    for line in (told, *told["steps"]):
        assert reckon(line["substituted"]) == exact(line)
        assert reckon(line["formula"], names) == exact(line)
    assert exact(told) == value
    for symbol in told["symbols"]:
        assert symbol["meaning"]
        assert symbol["from"]


def exact(line: dict[str, object]) -> Fraction:
    """A line's own value."""
    return Fraction(str(line.get("exact", line["value"])))


def test_a_letter_without_a_value_would_be_noticed() -> None:
    with pytest.raises(FormulaError):
        reckon("4·d_model", {})
