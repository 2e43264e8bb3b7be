"""A sweep's table shows every point of its JSON."""

from __future__ import annotations

import json

import pytest

from tests.support.running import answer, run
from txcalc.render.points import BAR_WIDTH, MOST_ROWS

FIGURES = ("flops.total", "params.total", "weights.bytes", "kvcache.sequence", "kvcache.token")
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def points(*command: str) -> list[dict[str, int]]:
    return [json.loads(line) for line in answer(*command, "--format", "json").splitlines()]


@pytest.mark.parametrize("figures", [FIGURES[:1], FIGURES[:2], FIGURES])
def test_every_figure_of_every_point_stands_beside_its_axes(figures: tuple[str, ...]) -> None:
    """One table, each figure in all digits; FLOPs in one unit a column too, bytes in their own."""
    command = ("sweep", "gpt3", *figures, "--over", "ctx=512:2048:x2", "--over", "batch=1:2")
    lines = [line.split() for line in answer(*command).splitlines() if line.strip()]
    [title], heads, _, *rows = lines
    units = {"flops.total": "GFLOPs"} | dict.fromkeys(FIGURES[2:], "bytes")
    assert title == "gpt3"
    headings = [[name, units[name]] if name in units else [name] for name in figures]
    assert heads == ["ctx", "batch", *(heading for of_figure in headings for heading in of_figure)]
    for point, (ctx, batch, *cells) in zip(points(*command), rows, strict=True):
        assert (int(ctx), int(batch)) == (point["ctx"], point["batch"])
        for name in figures:
            digits = f"{point[name]:,}"
            match units.get(name):
                case None:
                    assert cells.pop(0) == digits
                case "GFLOPs":
                    assert [cells.pop(0) for _ in "12"] == [digits, f"{point[name] / 1e9:.3f}"]
                case _:
                    number, unit, exact = (cells.pop(0) for _ in "123")
                    assert exact == digits
                    size = 1024 ** UNITS.index(unit)
                    assert number == f"{point[name] / size:.2f}"
        assert cells == []


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
