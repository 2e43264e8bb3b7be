"""An explanation as text shows what it holds as JSON."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.running import answer

EXPLAINED = [
    ("gpt2-small", "params.total"),
    ("deepseek-v3", "params.total"),
    ("gemma-3-4b-text", "kvcache.sequence"),
    ("mixtral-8x7b", "intensity.decode"),
    ("bart-base", "flops.total"),
]
explained = pytest.mark.parametrize(("model", "address"), EXPLAINED)


def together(text: str) -> str:
    """A text without what wrapping adds to it."""
    return re.sub(r"\s", "", text)


@explained
def test_text_has_every_step_letter_and_note_of_the_json(model: str, address: str) -> None:
    text = answer("explain", model, address)
    found = json.loads(answer("explain", model, address, "--format", "json"))
    assert text.startswith(f"{model}  {address}\n")
    whole = together(text)
    for note in (*found["conventions"], *found["sources"], *found["assumptions"]):
        assert together(note) in whole
    for step in (found, *found["steps"]):
        if isinstance(step["value"], int) and step["unit"] != "bytes":
            assert f"{step['value']:,}" in text, step
    for symbol in found["symbols"]:
        assert re.search(rf"^ +{re.escape(symbol['name'])} ", text, re.MULTILINE), symbol


@explained
def test_the_three_lines_of_a_figure_are_letters_numbers_and_result(
    model: str, address: str
) -> None:
    text = answer("explain", model, address)
    found = json.loads(answer("explain", model, address, "--format", "json"))
    first = text.partition("\n\n")[2].partition("\n\n")[0]
    letters, numbers, result = re.split(r"\n +(?:=|≈) ", re.sub(r"\n +(?![=≈ ])", " ", first))
    assert together(letters) == together(f"{address}={found['formula']}")
    assert together(numbers) == together(found["substituted"])
    assert result.endswith(found["unit"]) or found["unit"] == "bytes"
