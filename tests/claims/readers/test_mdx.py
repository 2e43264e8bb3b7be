"""Comments in MDX: expressions of JavaScript, and HTML as in Markdown."""

from __future__ import annotations

import pytest

from tests.support.pages import ABOUT, TOTAL, claims_of, one_claim
from txcalc.claims.claim import Claim

INSIDE = f"{{/* {ABOUT} */}}"


@pytest.mark.parametrize(
    ("page", "value"),
    [
        (f"It has 124M{INSIDE} of them.", "124M"), (f"It has 124M{TOTAL} of them.", "124M"),
        (f"# **124M**{INSIDE}", "124M"), (f"| a |\n|--|\n| 124M{INSIDE} |", "124M"),
        (f"<Note>\n  it has **124M**{INSIDE}\n</Note>", "124M"), (f"<b>124M</b>{INSIDE}", "124M"),
        (f"    124M{INSIDE}", "124M"), (f"9 124M{{/* of */}} 7M{{/*{ABOUT}*/}}", "7M"),
        ("124M{/* txcalc:\n gpt2-small\n params.total\n*/}", "124M"),
        (f"---\ntitle: x\n---\nimport A from 'a'\n\n124M{INSIDE}", "124M"),
        (f"5{{/* a ?> b */}} and 124M{INSIDE}", "124M"), (f"$1{{,}}024${INSIDE}", "1{,}024"),
    ],
)  # fmt: skip
def test_a_claim_is_found_where_it_stands(page: str, value: str) -> None:
    claim, place = one_claim(page, "page.mdx")
    assert claim.value == page[place.start : place.end] == value
    assert (claim.model, claim.claim) == ("gpt2-small", "params.total")


@pytest.mark.parametrize(
    "page",
    [
        f"```js\n1M{INSIDE}\n```", f"`1M{INSIDE}`", f"{{/* old:\n\n1M{TOTAL}\n\n*/}}",
        "{/* of txcalc */}", "1M{/* nothing */}", "1M{/* txcalc */}",
    ],
)  # fmt: skip
def test_code_and_other_comments_hold_none(page: str) -> None:
    assert claims_of(page, "page.mdx") == []


def test_a_comment_that_never_ends_is_no_claim() -> None:
    (first, _, _), (second, name, _) = claims_of(f"1M{INSIDE}\n\n5{{/* {ABOUT}\n", "page.mdx")
    assert isinstance(first, Claim)
    assert (str(second), name) == ("the comment is never closed", "line 3")
