"""Markdown draws the sheets of the tables as pipe tables that any reader understands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.support.printed import in_table
from tests.support.running import answer
from txcalc.sources import bundled

COMMANDS = [
    ["params", "gpt2-small", "--tensors"],
    ["shapes", "gpt2-small"],
    ["concurrency", "toy", "gpt3"],
    ["params", "mixtral-8x7b", "--explain"],
    ["generation", "toy", "gpt3"],
    ["models", "llama"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_page_has_a_heading_and_a_table_for_each_sheet(command: list[str]) -> None:
    tokens = (
        MarkdownIt("commonmark").enable("table").parse(answer(*command, "--format", "markdown"))
    )
    kinds = [token.type for token in tokens]
    titles = [line for line in answer(*command).splitlines() if re.match(r"\S", line)]
    headings = [tokens[i + 1].content for i, kind in enumerate(kinds) if kind == "heading_open"]
    assert headings == titles
    assert kinds.count("table_open") == len(titles)


def test_numbers_stand_at_the_right_and_words_at_the_left() -> None:
    marks = answer("params", "gpt3", "--tensors", "--format", "markdown").splitlines()[3]
    assert marks == "| :-- | :-- | :-- | --: | --: |"


def test_bars_are_those_of_the_table() -> None:
    command = ("concurrency", "toy", "gpt3")
    bars = [
        [line.strip() for line in answer(*command, *options).splitlines() if "█" in line]
        for options in ((), ("--format", "markdown"))
    ]
    assert bars[0] == bars[1]
    assert len(bars[0]) > 8


def test_a_bar_in_a_name_ends_no_cell(tmp_path: Path) -> None:
    text = Path(bundled.find("toy")).read_text("utf-8")
    path = tmp_path / "toy.yaml"
    path.write_text(text.replace("name: toy", "name: 'a|b'"), "utf-8")
    lines = answer("params", path, "--format", "markdown").splitlines()
    rows = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("|")]
    assert {len(row) for row in rows} == {len(rows[0])}
    assert rows[0][2].strip() == r"a\|b"
    assert len(rows) == 2 + len(in_table("params", "toy"))
