"""Rows of raw values."""

from __future__ import annotations

import pytest

from tests.support.printed import in_json
from tests.support.running import MODELS


@pytest.mark.parametrize("name", MODELS)
def test_printed_parts_sum_to_the_printed_whole(name: str) -> None:
    """A reader adds the lines up; what is indented below a line has to be all of it."""
    rows = {row["address"]: row["value"] for row in in_json("params", name)}
    tops = ("embedding", "blocks", "final_norm", "head")
    assert rows["params.total"] == sum(rows[f"params.{top}"] for top in tops)
    for parent, value in rows.items():
        at = f"{parent}."
        children = [
            number
            for address, number in rows.items()
            if address.startswith(at) and not address.endswith((".matmul", ".biases"))
            and "." not in address.removeprefix(at)
        ]  # fmt: skip
        if children and parent != "params.block":
            assert sum(children) == value, parent
