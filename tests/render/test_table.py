"""Tables fit a page, and a pipe gets all of them."""

from __future__ import annotations

import pytest

from tests.support.running import BUNDLED, MODELS, OTHERS, answer, named


@pytest.mark.parametrize("name", [*MODELS, *OTHERS])
def test_tables_of_one_model_fit_80_columns(name: str) -> None:
    """Where they are piped: of terminals ``test_screens`` has every width."""
    commands = {"params": [], "flops": [], "intensity": [], "shapes": []}
    if named(name).has_decoder:
        commands |= {"kvcache": [], "concurrency": []}
    else:
        commands["flops"] = ["--phase", "prefill"]
    widths = {
        command: max(map(len, answer(command, name, *options).splitlines()))
        for command, options in commands.items()
    }
    assert {command: width for command, width in widths.items() if width > 80} == {}


def test_the_shapes_of_every_model_fit_80_columns() -> None:
    """The widest of all tables, with the longest names in it."""
    widths = {name: max(map(len, answer("shapes", name).splitlines())) for name in BUNDLED}
    assert {name: width for name, width in widths.items() if width > 80} == {}


def test_documented_models_fit_80_columns_side_by_side() -> None:
    for command in ("params", "kvcache", "intensity", "concurrency", "show"):
        assert max(map(len, answer(command).splitlines())) <= 80


def test_a_wide_table_is_whole_where_it_is_piped() -> None:
    wide = answer("params", *MODELS)
    assert "…" not in wide
    header = next(line for line in wide.splitlines() if "gpt2-small" in line)
    assert len(header) > 200
    assert [word for word in header.split() if word != "..."] == list(MODELS)
    totals = next(line for line in wide.splitlines() if line.split()[:1] == ["total"])
    assert "174,604,259,328" in totals
    assert len(totals.split()) == len(MODELS) + 1
    tensors = answer("params", "gpt3", "--tensors")
    assert "…" not in tensors
    assert "n_heads·head_dim x d_model" in tensors
