"""Verdicts in three formats say the same of every claim."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.running import run

PAGE = """\
It has 124,439,808<!-- txcalc: gpt2-small params.total --> parameters,
not 125M<!-- txcalc: gpt2-small params.total -->,
and 9 GiB<!-- txcalc: gpt3 kvcache.sequence --> of cache.
Nobody has 7<!-- txcalc: nosuch params.total --> of them.
"""
STATUSES = ["holds", "fails", "holds", "unreadable"]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return path


def checked(fmt: str, *paths: Path) -> str:
    ran = run("check", *paths, "--format", fmt)
    assert ran.code == 2
    return ran.out


def test_json_has_a_status_for_each_claim(page: Path) -> None:
    rows = json.loads(checked("json", page))
    assert [row["status"] for row in rows] == STATUSES
    assert [row["holds"] for row in rows] == [status == "holds" for status in STATUSES]
    assert [bool(row["problem"]) for row in rows] == [status != "holds" for status in STATUSES]
    assert [row["line"] for row in rows] == [1, 2, 3, 4]


def test_the_table_has_a_row_for_each_claim_and_their_count(page: Path) -> None:
    *lines, count = checked("table", page).splitlines()
    rows = [line.split()[-1] for line in lines if line.startswith(" line ")]
    assert rows == STATUSES
    assert count == "4 claims: 2 hold, 1 fail, 1 cannot be read"


def test_what_is_wrong_stands_below_the_table_with_its_formula(page: Path) -> None:
    text = " ".join(checked("table", page).split())
    assert "125M is documented, but it is 124,439,808 parameters" in text
    assert "params.total = params.blocks + params.embedding + params.final_norm" in text
    assert "'nosuch'" in text


def test_only_what_does_not_hold_is_annotated(page: Path) -> None:
    lines = checked("github", page).splitlines()
    assert [line.partition("::")[2].partition("::")[0] for line in lines] == [
        f"error file={page},line={line}" for line in (2, 4)
    ]


def test_each_of_several_files_has_a_table_below_its_name(page: Path) -> None:
    other = page.with_name("other.md")
    other.write_text(PAGE, "utf-8")
    both, alone = checked("table", page, other), checked("table", page)
    lines = both.splitlines()
    for path in (page, other):
        assert "".join(lines).count(str(path)) == 1 + 2  # the title, and before each problem
    assert sum("documented   " in line for line in lines) == 2
    assert sum("documented   " in line for line in alone.splitlines()) == 1
