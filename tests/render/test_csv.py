"""CSV has a line a figure and a column a field, whatever is asked."""

from __future__ import annotations

import csv
import io

import pytest

from tests.support.printed import in_csv, in_json
from tests.support.running import answer

FIELDS = ["model", "address", "value", "unit", "exact"]


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        (["flops", "gpt3"], FIELDS),
        (["generation", "gpt3"], FIELDS),
        (["shapes", "gpt3"], FIELDS),
        (["models", "gpt3"], FIELDS),
        (["params", "gpt3", "--explain"], [*FIELDS, "formula"]),
        (["params", "gpt3", "--tensors"], [*FIELDS, "dims", "copies", "count"]),
    ],
)
def test_every_line_has_the_fields_of_the_header(command: list[str], fields: list[str]) -> None:
    header, *lines = csv.reader(io.StringIO(answer(*command, "--format", "csv")))
    assert header == fields
    assert lines
    assert all(len(line) == len(header) for line in lines)


def test_models_follow_one_another() -> None:
    lines = in_csv("params", "toy", "gpt3")
    expected = [
        (model, row["address"], str(row["value"]))
        for model in ("toy", "gpt3")
        for row in in_json("params", model)
    ]
    assert [(line["model"], line["address"], line["value"]) for line in lines] == expected


def test_formulas_of_a_shape_stand_apart_in_one_cell() -> None:
    rows, lines = (read("shapes", "gpt3", "--explain") for read in (in_json, in_csv))
    assert [line["formula"].split(", ") for line in lines] == [row["formula"] for row in rows]
    assert lines[0]["formula"] == "B, T, d_model"
