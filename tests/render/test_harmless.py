"""No text of a file or of an option is obeyed by a terminal, or run by a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.sources.test_bad_descriptions import GOOD
from tests.support.running import run

HOSTILE = "\x1b[2J\x9b31m\r\u202e\u2028\x07\x7f"
"""Clears the screen, colours, overwrites the line, turns its direction, ends it, rings."""
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
FORMATS = ("table", "json", "csv", "markdown")
FORMULAS = ("=1+1", "+1+cmd", "-1+1", "@SUM(A1)", "=HYPERLINK(1)")


def files(folder: Path) -> dict[str, str]:
    """By name files with hostile text wherever a file may have text."""
    quoted = json.dumps(HOSTILE)
    config = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100, "n_positions": 16}
    return {
        f"{HOSTILE}.yaml": GOOD,
        "notes.yaml": f"{GOOD}notes: [{quoted}]\n",
        "key.yaml": f"{GOOD}{quoted}: 1\n",
        "part.yaml": GOOD.replace("attention: own", f"attention: {quoted}"),
        "name.yaml": GOOD.replace("name: small", f"name: {quoted}"),
        "config.json": json.dumps(config | {"model_type": "gpt2", HOSTILE: 1}),
        "other.json": json.dumps(config | {"model_type": HOSTILE}),
    }


@pytest.mark.parametrize("name", files(Path()))
def test_text_of_a_file_is_neutralised(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(files(tmp_path)[name], "utf-8")
    for command in (["params"], ["show"], ["explain", "params.total"],
                    ["sweep", "params.total", "--over", "ctx=1,2"]):  # fmt: skip
        for fmt in FORMATS:
            first, *others = command
            ran = run(first, path, *others, "--format", fmt)
            assert ran.code in (0, 2)
            assert not OBEYED.search(ran.out + ran.err)


@pytest.mark.parametrize(
    "words",
    [
        ["params", HOSTILE], [HOSTILE], ["kvcache", "toy", f"--{HOSTILE}"],
        ["kvcache", "toy", "--kv", HOSTILE], ["kvcache", "toy", "--ctx", HOSTILE],
        ["get", "toy", HOSTILE], ["params", "toy", "--set", f"{HOSTILE}=1"],
        ["params", "toy", "--set", f"d_model={HOSTILE}"], ["params", "toy", "--format", HOSTILE],
        ["sweep", "toy", "params.total", "--over", f"{HOSTILE}=1"],
        ["fit", "toy", "--device", HOSTILE], ["addresses", "toy", HOSTILE], ["models", HOSTILE],
    ],
)  # fmt: skip
def test_an_option_that_is_repeated_in_a_message_is_neutralised(words: list[str]) -> None:
    ran = run(*words)
    assert ran.code == 2 or (ran.code, words[0]) == (0, "models")
    assert not OBEYED.search(ran.out + ran.err)


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_name_that_a_spreadsheet_would_run_is_text(formula: str, tmp_path: Path) -> None:
    path = tmp_path / f"{formula}.yaml"
    path.write_text(GOOD.replace("name: small", f"name: {json.dumps(formula)}"), "utf-8")
    swept = ["sweep", "params.total", "--over", f"model={path},toy"]
    for words in (["params", path], ["params", path, "--explain"], swept):
        lines = list(csv.reader(io.StringIO(run(*words, "--format", "csv").out)))
        assert len(lines) > 1
        for cell in (cell for line in lines for cell in line):
            assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r")
