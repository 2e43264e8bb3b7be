"""A sweep's table shows every point of its JSON."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.running import answer, run
from txcalc.render.points import BAR_WIDTH, MOST_ROWS

FIGURES = ("flops.total", "params.total", "weights.bytes", "kvcache.sequence", "kvcache.token")


def points(*command: str) -> list[dict[str, int]]:
    return [json.loads(line) for line in answer(*command, "--format", "json").splitlines()]


def tables(*command: str) -> list[list[list[str]]]:
    """The words of each table's lines, its headings first."""
    blocks = re.split(r"\n(?=\n)", answer(*command))
    lines = [[line.split() for line in block.splitlines() if line.strip()] for block in blocks]
    return [
        [words for words in block if set(words[0]) != {"─"}] for block in lines if len(block) > 1
    ]


@pytest.mark.parametrize("figures", [FIGURES[:1], FIGURES[:2], FIGURES])
def test_every_figure_of_every_point_stands_beside_its_axes(figures: tuple[str, ...]) -> None:
    command = ("sweep", "gpt3", *figures, "--over", "ctx=512:2048:x2", "--over", "batch=1:2")
    shown = tables(*command)
    assert [name for heads, *_ in shown for name in heads[2:]] == list(figures)
    for (_, _, *names), *rows in shown:
        for point, (ctx, batch, *cells) in zip(points(*command), rows, strict=True):
            assert (int(ctx), int(batch)) == (point["ctx"], point["batch"])
            assert cells == [f"{point[name]:,}" for name in names]


def test_the_longest_bar_is_whole_and_the_others_are_in_proportion() -> None:
    command = ("sweep", "gpt3", "kvcache.sequence", "--over", "ctx=512:4096:x2")
    bars = [line.count("█") for line in answer(*command).splitlines() if "█" in line]
    assert bars == [BAR_WIDTH // 8, BAR_WIDTH // 4, BAR_WIDTH // 2, BAR_WIDTH]


def test_models_of_an_axis_stand_in_place_of_a_title() -> None:
    command = ("sweep", "gpt3", "flops.total", "--over")
    assert answer(*command, "ctx=1,2").splitlines()[0] == "gpt3"
    listed = answer(*command, "model=gpt3,toy").splitlines()
    assert [line.split()[0] for line in listed if "█" in line or "toy" in line] == ["gpt3", "toy"]
    assert listed[0].strip() != "gpt3"


def test_more_points_than_anybody_reads_are_refused() -> None:
    command = ("sweep", "gpt3", "flops.total", "--over")
    assert run(*command, f"ctx=1:{MOST_ROWS}").code == 0
    refused = run(*command, f"ctx=1:{MOST_ROWS + 1}")
    assert (refused.code, refused.out) == (2, "")
    assert "2,001 points are too many for a table; choose --format csv or json" in refused.err
