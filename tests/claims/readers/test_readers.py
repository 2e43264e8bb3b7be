"""What holds for the readers of all formats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pages import ABOUT, TOTAL, claims_of
from txcalc.claims.claim import Claim
from txcalc.claims.readers import READERS
from txcalc.claims.readers.comment import PageError

COMMENTS = {
    ".md": TOTAL, ".markdown": TOTAL, ".qmd": TOTAL, ".mdx": f"{{/* {ABOUT} */}}",
    ".rst": f"\n\n.. {ABOUT}\n\n", ".tex": f" % {ABOUT}\n",
}  # fmt: skip
NUMBERS = (
    "124,439,808", "124{,}439{,}808", "124M", "17.3 MFLOPs", "9 GiB", "1.05 million", "3.14e23",
    "2/3", "1.24億", "3.14 × 10^23", "3.14×10²³", "+5", "124M parameters",
)  # fmt: skip
PIECES = (
    "GPT ", " ", "   ", "\n", "\n\n", "\r\n", "\r", "1", "124M", "-", "> ", "|", "`", "```\n",
    "**", "{", "}", "$", "\\", "%", "\\%", "\\begin{verbatim}\n", "\\end{verbatim}", "::",
    "::\n\n   ", "===", ".. ", ".. note:: ", "{/*", "*/}", "<!--", "-->", "<Note>\n", "</Note>",
    "\"", "'", "[", "](", "\x00", "\ufeff", "\u2028", *COMMENTS.values(),
    "% txcalc: ", ".. txcalc: ", "{/* txcalc: ", "<!-- txcalc: ",
)  # fmt: skip


def test_each_format_has_a_reader_and_an_example_here() -> None:
    assert {*COMMENTS, ".ipynb"} == set(READERS)


@pytest.mark.parametrize("ending", COMMENTS)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_is_found_the_same_way_in_each(number: str, ending: str) -> None:
    page = f"It has {number}{COMMENTS[ending]} of them\n"
    [(claim, _, place)] = claims_of(page, f"page{ending}")
    assert isinstance(claim, Claim), claim
    assert claim.value == page[place.start : place.end] == number
    assert claim.relation == "rounds"


@pytest.mark.parametrize("ending", COMMENTS)
@pytest.mark.parametrize(
    ("sign", "relation"), [("about", "rounds"), ("≈", "rounds"), (">", "over"), ("<", "under")]
)
def test_a_sign_before_it_says_the_same_in_each(sign: str, relation: str, ending: str) -> None:
    [(claim, _, _)] = claims_of(f"It is {sign} 124M{COMMENTS[ending]}", f"page{ending}")
    assert isinstance(claim, Claim), claim
    assert (claim.value, claim.relation) == ("124M", relation)


@pytest.mark.parametrize("ending", COMMENTS)
@pytest.mark.parametrize("number", ["1" * 201, "1" * 400, "1" * 5000, "1," * 3000 + "1"])
def test_a_number_is_read_whole_or_not_at_all(number: str, ending: str) -> None:
    [(found, _, place)] = claims_of(f"It has {number}{COMMENTS[ending]}", f"page{ending}")
    assert place.start == place.end or not isinstance(found, Claim) or found.value == number


@pytest.mark.parametrize("ending", [*COMMENTS, ".ipynb"])
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_page_is_read_or_refused(ending: str, text: str) -> None:
    try:
        found = claims_of(text, f"page{ending}")
    except PageError:
        return
    assert len(found) <= text.lower().count("txcalc")
    assert len({name for _, name, _ in found}) == len(found)
    for claim, _, place in found:
        assert 1 <= place.line <= text.count("\n") + text.count("\r") + 1
        if isinstance(claim, Claim) and place.end:
            assert text[place.start : place.end] == claim.value
