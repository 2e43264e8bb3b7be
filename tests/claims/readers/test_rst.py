"""Comments in reStructuredText, which stand below the paragraph of the number."""

from __future__ import annotations

import pytest

from tests.support.pages import ABOUT, claims_of, one_claim

COMMENT = f".. {ABOUT}\n"


@pytest.mark.parametrize(
    ("page", "value"),
    [
        (f"It has 124M.\n\n{COMMENT}", "124M"), (f"It has **124M**\n\n{COMMENT}", "124M"),
        (f"Parameters: ``124M``\n\n\n{COMMENT}", "124M"), (f"124M\n====\n\n{COMMENT}", "124M"),
        (f"- of 124M:\n\n  {COMMENT}", "124M"), (f"Of 5\n\nit is 124M!\n\n{COMMENT}", "124M"),
        (f".. note::\n\n   It has 124M.\n\n   {COMMENT}", "124M"),
        (f".. note:: It has 124M.\n\n   {COMMENT}", "124M"),
        (f":math:`124{{,}}439{{,}}808`.\n\n{COMMENT}", "124{,}439{,}808"),
        (f"It has 124M\nparameters.\n\n{COMMENT}", "124M\nparameters"),
        (f".. list-table::\n\n   * - small\n     - 124M\n\n       {COMMENT}", "124M"),
        ("It has 124M.\n\n.. txcalc:\n   gpt2-small\n   params.total\n\nMore.", "124M"),
        (f"Text::\n\n   code\n\nIt has 124M.\n\n{COMMENT}", "124M"),
        (f".. old comment\n   5\n\n124M\n\n{COMMENT}", "124M"),
        (f"a\r\n\r\n124M\r\n\r\n{COMMENT}", "124M"),
    ],
)  # fmt: skip
def test_a_claim_is_found_where_it_stands(page: str, value: str) -> None:
    claim, place = one_claim(page, "page.rst")
    assert claim.value == page[place.start : place.end] == value
    assert (claim.model, claim.claim) == ("gpt2-small", "params.total")


@pytest.mark.parametrize(
    "page",
    [
        f"Text::\n\n   1M\n\n   {COMMENT}", f"::\n\n   1M\n\n   {COMMENT}",
        f".. code-block:: rst\n\n   1M\n\n   {COMMENT}", f".. old:\n   1M\n\n   {COMMENT}",
        f".. raw:: html\n\n   1M\n\n   {COMMENT}", "1M\n\n.. of txcalc\n", "1M\n\n.. txcalc\n",
    ],
)  # fmt: skip
def test_literal_text_and_other_comments_hold_none(page: str) -> None:
    assert claims_of(page, "page.rst") == []


@pytest.mark.parametrize(
    ("page", "line", "problem"),
    [
        (f"It has 124M\n{COMMENT}", 2, "needs an empty line before it"),
        (f"It has 124M of them.\n\n{COMMENT}", 3, "no number stands right before"),
        (f"{COMMENT}\n124M\n", 1, "no number stands right before"),
        (f"124M\n\n{COMMENT}\n{COMMENT}", 5, "no number stands right before"),
        (f"124M\n\n.. was 124M\n\n{COMMENT}", 5, "no number stands right before"),
    ],
)
def test_a_comment_that_is_no_claim_is_refused(page: str, line: int, problem: str) -> None:
    *_, (error, name, place) = claims_of(page, "page.rst")
    assert problem in str(error)
    assert (name, place.line) == (f"line {line}", line)
