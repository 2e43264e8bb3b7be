"""Sizes of real checkpoints and figures of serving logs, each with its public source."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import yaml

from tests.support.asking import asked
from tests.support.running import DATA

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    found: list[Row] = yaml.safe_load((DATA / name).read_text("utf-8"))["rows"]
    return found


@pytest.mark.parametrize("row", rows("checkpoints.yaml"), ids=lambda row: row["id"])
def test_a_checkpoint_to_the_byte(row: Row) -> None:
    assert asked(row, "weights.bytes") == row["bytes"], row["url"]


@pytest.mark.parametrize("row", rows("serving_logs.yaml"), ids=lambda r: f"{r['id']}-{r['what']}")
def test_a_figure_of_a_serving_log(row: Row) -> None:
    value = asked(row, row["address"]) / row.get("per", 1)
    assert abs(value - Fraction(row["reported"])) <= Fraction(row["tolerance"]), row["source"]
