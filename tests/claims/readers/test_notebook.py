"""Comments in the Markdown cells of a Jupyter notebook, by the lines of its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pages import TOTAL, check, claims_of
from tests.support.running import run
from txcalc.claims.claim import Claim
from txcalc.claims.readers.comment import PageError
from txcalc.claims.readers.notebook import comments


def notebook(*cells: dict[str, Any], ascii_only: bool = True) -> str:
    """A notebook as Jupyter saves it."""
    tree = {"cells": [{"metadata": {}} | cell for cell in cells], "metadata": {}, "nbformat": 4}
    return json.dumps(tree, indent=1, ensure_ascii=ascii_only) + "\n"


def markdown(source: str | list[str]) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source}


def test_a_claim_has_the_line_of_the_file_and_others_are_not_read() -> None:
    text = notebook(
        {"cell_type": "code", "source": [f"1{TOTAL}"], "outputs": [{"text": [f'"2{TOTAL}']}]},
        {"cell_type": "raw", "source": f"3{TOTAL}"},
        markdown(
            ['# A "title"\n', "\n", f"It has **124M**{TOTAL} of them,\n", "```\n", f"4{TOTAL}"]
        ),
        markdown(f"\n\nIt has 125M{TOTAL}"),
    )
    first, second = claims_of(text, "page.ipynb")
    for (claim, _, place), value in ((first, "124M"), (second, "125M")):
        assert isinstance(claim, Claim)
        assert claim.value == text[place.start : place.end] == value
        assert value in text.split("\n")[place.line - 1]


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("125M", "124M"), ("$125\\,439\\,808$", "$124\\,439\\,808$"), ("≈ 1.25億", "≈ 1.24億"),
        ('\\"a" \U0001d54f 125M', '\\"a" \U0001d54f 124M'), ("1.25×10⁸", "1.24×10⁸"),
    ],
)  # fmt: skip
def test_numbers_are_refreshed_in_their_strings(
    old: str, new: str, ascii_only: bool, tmp_path: Path
) -> None:
    def page(number: str) -> str:
        code = {"cell_type": "code", "source": old}
        text = markdown(["é\t\n", f"It has {number}{TOTAL} of them"])
        return notebook(code, text, ascii_only=ascii_only)

    ran = check(tmp_path, page(old), "--write", name="page.ipynb")
    assert ran.code == 0, ran.out + ran.err
    assert (tmp_path / "page.ipynb").read_text("utf-8") == page(new)
    assert run("check", tmp_path / "page.ipynb").code == 0


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("{\n1: txcalc", "bad JSON", 2), ('{"cells":' * 5000, "nested too deep", 1),
        ("[]", "'cells'", 1), ('{"cells": 1}', "'cells'", 1), ('{"cell": []}', "'cells'", 1),
        ("", "bad JSON", 1),
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_refused(text: str, problem: str, line: int) -> None:
    with pytest.raises(PageError, match=problem) as refused:
        list(comments(text))
    assert refused.value.line == line


@pytest.mark.parametrize(
    "cells",
    [
        "[1, null, [], {}]", '[{"cell_type": "markdown"}]', '[{"cell_type": ["markdown"]}]',
        '[{"cell_type": "markdown", "source": 5}]', '[{"cell_type": "markdown", "source": []}]',
        '[{"cell_type": "markdown", "source": [5, {}, null]}]', '[{"source": "txcalc"}]',
        f"[{'1' * 5000}, 1e999, NaN]",
    ],
)  # fmt: skip
def test_odd_cells_hold_no_claims(cells: str) -> None:
    assert list(comments(f'{{"cells": {cells}}}')) == []


@given(
    st.lists(
        st.lists(st.text(max_size=20) | st.just(f"7M{TOTAL}\n"), max_size=5), min_size=1, max_size=3
    ),
    st.booleans(),
)
def test_every_character_is_where_the_file_has_it(cells: list[list[str]], ascii_only: bool) -> None:
    text = notebook(*(markdown(lines) for lines in cells), ascii_only=ascii_only)
    for comment in comments(text):
        start, end = comment.start, comment.start + len("<!--")
        assert text[comment.in_file(start) : comment.in_file(end)] == comment.source[start:end]
        assert json.dumps(comment.source[: comment.start])[1:-1].replace("\\n", "") in json.dumps(
            comment.source
        ).replace("\\n", "")
