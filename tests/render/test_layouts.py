"""What stands on a sheet, and where."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.printed import in_table
from tests.support.running import BUNDLED, answer, named

VARIED = ("toy", "gpt3", "bart-base", "roberta-base", "transformer-base")
GENERATING = [name for name in VARIED if named(name).has_decoder]


def test_several_models_stand_side_by_side() -> None:
    text = answer("params", "toy", "gpt3", "gpt2-small")
    header = next(line for line in text.splitlines() if "gpt3" in line)
    assert header.split() == ["toy", "gpt3", "gpt2-small"]
    total = next(line for line in text.splitlines() if line.split()[:1] == ["total"])
    assert total.split()[1:] == ["329,600", "174,604,259,328", "124,439,808"]


def test_a_model_has_the_same_numbers_beside_others_and_alone() -> None:
    """What only the others have is a dash; rows stay in the order of each model's own table."""
    names = ("bart-base", "deepseek-v3", "jamba-v0.1", "toy")
    table = in_table("params", *names)
    for i, name in enumerate(names, 1):
        alone = [cells[1] for cells in in_table("params", name) if len(cells) > 1]
        assert [cells[i] for cells in table if cells[i] != "-"] == alone


def test_models_are_listed_with_totals_and_sources() -> None:
    reports = json.loads(answer("models", "--format", "json"))
    assert [report["model"] for report in reports] == sorted(BUNDLED)
    assert all(report["source"] for report in reports)
    text = answer("models")
    for name in BUNDLED:
        assert re.search(rf"^ *{re.escape(name)} .*[0-9,]+$", text, re.MULTILINE)
    assert "174,604,259,328" in text


@pytest.mark.parametrize("name", GENERATING)
@pytest.mark.parametrize("command", ["params", "flops", "kvcache", "intensity", "concurrency"])
def test_a_table_states_assumptions_and_conventions(command: str, name: str) -> None:
    (report,) = json.loads(answer(command, name, "--format", "json"))
    flat = " ".join(answer(command, name).split())
    assert report["conventions"]
    for line in (*report["assumptions"], *report["conventions"]):
        assert " ".join(line.split()) in flat


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--phase", "decode", "--batch", "3"], ["phase decode", "batch 3"]),
        (["--ctx", "77"], ["ctx 77"]),
        (["--scores", "causal"], ["visible"]),
        (["--macs"], ["MAC"]),
        (["--phase", "prefill", "--logits", "last"], ["logits", "last"]),
        (["--phase", "train"], ["train"]),
    ],
)
def test_what_was_asked_is_what_is_said(options: list[str], told: list[str]) -> None:
    text = answer("flops", "gpt2-small", *options)
    for words in told:
        assert words in text
