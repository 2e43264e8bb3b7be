"""Verdicts in three formats say the same of every claim, and nothing that a terminal obeys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.running import run
from tests.support.terminal import coloured, shown
from txcalc.claims.claim import Claim, Formula, Place, Verdict
from txcalc.exact.quantity import const
from txcalc.render.verdicts import failure, verdicts_in

HOLD = """\
It has 124,439,808<!-- txcalc: gpt2-small params.total --> parameters
and 9 GiB<!-- txcalc: gpt3 kvcache.sequence --> of cache,
or 4,831,838,208<!-- txcalc: gpt3 kvcache.sequence kv=fp8 --> bytes.
"""
PAGE = """\
It has 124,439,808<!-- txcalc: gpt2-small params.total --> parameters,
not 125M<!-- txcalc: gpt2-small params.total -->,
and 9 GiB<!-- txcalc: gpt3 kvcache.sequence --> of cache.
Nobody has 7<!-- txcalc: nosuch params.total --> of them.
"""
STATUSES = ["holds", "fails", "holds", "unreadable"]
HOSTILE = "\x1b[31m\x9b2J\r\n::error::\t\x00\x7f\u2028\u202e\u200b\ud800%0A"
UNSEEN = {*map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029)), *"\u202e\u200b\ud800"}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return path


def checked(fmt: str, *paths: Path, quiet: bool = False) -> str:
    ran = run("check", *paths, "--format", fmt, *(["--quiet"] if quiet else []))
    assert ran.code == 2
    assert ran.err.splitlines() == [
        f"txcalc: {path}:4: no bundled model and no file 'nosuch'; 'txcalc models' lists those "
        "there are"
        for path in paths
    ]
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
        assert "".join(lines).count(str(path)) == 1 + 1  # the title, and before the problem
    assert sum("documented   " in line for line in lines) == 2
    assert sum("documented   " in line for line in alone.splitlines()) == 1


def test_quiet_shows_what_does_not_hold_and_else_nothing(page: Path) -> None:
    text = checked("table", page, quiet=True)
    assert "".join(text.split()).startswith(f"{page}:2:125Misdocumented")
    assert text.endswith("4 claims: 2 hold, 1 fail, 1 cannot be read\n")
    rows = json.loads(checked("json", page, quiet=True))
    assert [row["status"] for row in rows] == ["fails", "unreadable"]
    assert checked("github", page, quiet=True) == checked("github", page)
    page.write_text(HOLD, "utf-8")
    assert run("check", "-q", page) == (0, "", "")
    assert json.loads(run("check", "-q", page, "--format", "json").out) == []


@pytest.mark.parametrize("columns", [40, 50, 60, 80, 120, 200])
def test_no_number_is_cut_in_a_terminal_of_any_width(columns: int, page: Path) -> None:
    page.write_text(HOLD, "utf-8")
    text = shown("check", page, columns=columns)
    for number in ("124,439,808", "9.00 GiB", "4,831,838,208", "4.50 GiB"):
        assert number in text
    assert text.count("holds") == 3
    assert max(map(len, text.splitlines())) <= columns


def test_what_holds_is_green_and_what_fails_is_red_in_a_terminal(page: Path) -> None:
    text = coloured("check", page, ends_with=2)
    for status, colour in (("holds", 32), ("fails", 31), ("unreadable", 31)):
        assert f"\x1b[{colour}m{status}\x1b[0m" in text
    page.write_text(PAGE.splitlines()[1], "utf-8")
    assert "\x1b[33mrefreshed: 124M\x1b[0m" in coloured("check", "--write", page)
    assert "\x1b" not in run("check", page).out


@pytest.mark.parametrize("fmt", ["table", "json", "github"])
def test_nothing_of_a_claim_or_path_reaches_a_terminal_as_a_control(fmt: str) -> None:
    claim = Claim(
        id=f"a{HOSTILE}", model=f"b{HOSTILE}", claim=f"c{HOSTILE}", value=f"d{HOSTILE}",
        says=HOSTILE, source=f"e{HOSTILE}", options={HOSTILE: HOSTILE}, tolerance=HOSTILE,
    )  # fmt: skip
    formula = Formula(f"f{HOSTILE}", f"g{HOSTILE}", f"h{HOSTILE}")
    fails, unread, refreshed = (
        Verdict(
            claim=claim, place=Place(f"i{HOSTILE}", 1), computed=const(1), problem=problem,
            formulas=[formula], unreadable=unreadable, refreshed=refreshed,
        )
        for problem, unreadable, refreshed in (
            (f"j{HOSTILE}", False, ""), (f"k{HOSTILE}", True, ""), ("", False, f"l{HOSTILE}"),
        )
    )  # fmt: skip
    text = verdicts_in(fmt, [fails, unread, refreshed])  # type: ignore[arg-type]
    assert UNSEEN & set(text) == {"\n"}
    if fmt == "json":
        assert json.loads(text)[0]["id"] == claim.id
    if fmt == "github":
        first, second = text.splitlines()
        assert first.startswith("::error file=")
        assert second.startswith("::error file=")
    assert UNSEEN & set(failure(unread)) == set()


@given(st.text(), st.text())
def test_an_annotation_is_one_line_with_one_file(file: str, problem: str) -> None:
    nothing = Claim(id="", model="", claim="", value="")
    verdict = Verdict(claim=nothing, place=Place(file, 7), problem=problem or "x", unreadable=True)
    text = verdicts_in("github", [verdict])
    assert text.splitlines() == [text.removesuffix("\n")]
    command, properties, *_ = text.removeprefix("::").split("::")[0].split(" ", 1)
    assert command == "error"
    assert properties.count(",") == 1
    assert properties.endswith(",line=7")
