"""The least number at which a condition holds: against trying every number, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.running import answer, find, named, run
from txcalc.errors import TxcalcError
from txcalc.sources.devices import load_device
from txcalc.sweeps.solving import solve

H100 = load_device("h100-sxm")


def test_the_layers_of_a_model_of_a_size() -> None:
    # gpt3: 12 x n_layers x d_model^2 and more; every layer adds as many parameters.
    least = solve("gpt3", "params.total >= 1e12", "n_layers").least
    assert least is not None
    assert find(named("gpt3", [f"n_layers={least}"]), "params.total") >= 10**12
    assert find(named("gpt3", [f"n_layers={least - 1}"]), "params.total") < 10**12


@pytest.mark.parametrize("name", ["llama-3.1-8b", "mixtral-8x7b"])
@pytest.mark.parametrize("flipped", [False, True])
def test_the_first_batch_that_misses_a_target(name: str, flipped: bool) -> None:
    asked: dict[str, Any] = {"device": H100, "ctx": 4096}
    text = "0.05 <= roofline.decode.time" if flipped else "roofline.decode.time >= 0.05"
    solution = solve(name, text, "batch", asked)
    assert solution.least is not None
    times = [
        find(named(name), "roofline.decode.time", batch=n, **asked)
        for n in (solution.least - 1, solution.least)
    ]
    assert times[0] < 0.05 <= times[1]
    assert [side[flipped].value for side in solution.sides.values()] == times[::-1]


def test_a_turning_point_is_a_condition() -> None:
    found = solve("deepseek-v3", "intensity.decode >= 989500/3350", "batch", {"ctx": 4096})
    assert found.least == 5405


def test_never_has_its_limit() -> None:
    solution = solve("llama-3.1-8b", "intensity.all.decode >= 295", "batch", {"ctx": 4096})
    assert solution.least is None
    assert round(float(solution.limit or 0) * 295, 2) == 31.59
    line = (
        "solve",
        "llama-3.1-8b",
        "intensity.all.decode >= 295",
        "--for",
        "batch",
        "--ctx",
        "4Ki",
    )
    assert "never: intensity.all.decode over 295 tends to 0.107" in " ".join(answer(*line).split())
    made = json.loads(answer(*line, "--format", "json"))
    assert made["value"] is None
    assert made["reason"].startswith("never: ")


@pytest.mark.parametrize(
    ("text", "letter", "given", "said"),
    [
        ("kvcache.sequence <= 1e9", "ctx", {}, "it holds at ctx 1 and not at"),
        ("params.total", "n_layers", {}, "is no condition: write A >= B, or A <= B"),
        ("params.total >= 1 >= 2", "n_layers", {}, "is no condition"),
        ("params.total >= flops.total", "ctx", {}, "FLOPs added to parameters"),
        ("params.total >= 1e12", "zork", {}, "no letter of the question, and no dimension"),
        ("params.total >= 1e12", "ctx", {}, "--for ctx changes nothing here: params reads"),
        ("flops.total >= 1e12", "ctx", {"ctx": 3}, "--ctx and --for ctx are both given"),
        ("2 >= 1", "ctx", {}, "names no figure"),
        ("params.total >= 1e12", "d_model", {}, "is no multiple of n_heads 96"),
    ],
)
def test_what_cannot_be_solved(text: str, letter: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(TxcalcError, match=said.replace("(", r"\(")):
        solve("gpt3", text, letter, given)


def test_the_command_shows_both_sides() -> None:
    out = answer("solve", "gpt3", "params.total >= 1e12", "--for", "n_layers")
    assert "params.total >= 1e12 from n_layers 552 on" in out
    assert [line.split()[0:2] for line in out.splitlines() if "hold" in line[40:]][:2] == [
        ["n_layers", "552"], ["n_layers", "551"],
    ]  # fmt: skip
    assert run("solve", "gpt3", "params.total >= 1e12").code == 2
