"""Comments in LaTeX, and numbers as LaTeX writes them."""

from __future__ import annotations

import pytest

from tests.support.pages import ABOUT, claims_of, one_claim

COMMENT = f"% {ABOUT}\n"


@pytest.mark.parametrize(
    ("page", "value", "relation"),
    [
        (f"It has 124M{COMMENT}of them.", "124M", "rounds"),
        (f"It has 124M {COMMENT}of them.", "124M", "rounds"),
        (f"It has 124M\n{COMMENT}of them.", "124M", "rounds"),
        (f"It has 124M\n  %{COMMENT}", "124M", "rounds"),
        (f"$124{{,}}439{{,}}808$ {COMMENT}", "124{,}439{,}808", "rounds"),
        (f"$124\\,439\\,808$ {COMMENT}", "124\\,439\\,808", "rounds"),
        (f"\\(1.24 \\times 10^{{8}}\\) {COMMENT}", "1.24 \\times 10^{8}", "rounds"),
        (f"\\textbf{{124M}} {COMMENT}", "124M", "rounds"),
        (f"\\num{{124439808}} {COMMENT}", "124439808", "rounds"),
        (f"small & 124M \\\\ {COMMENT}", "124M", "rounds"),
        (f"small & 124M \\\\ \\hline\n{COMMENT}", "124M", "rounds"),
        (f"66.7\\% {COMMENT}", "66.7\\%", "rounds"), (f"9~GiB {COMMENT}", "9~GiB", "rounds"),
        (f"9\\,GiB {COMMENT}", "9\\,GiB", "rounds"), (f"about~124M {COMMENT}", "124M", "rounds"),
        (f"$\\approx 124$M {COMMENT}", "124M", "rounds"), (f"$>124$ {COMMENT}", "124", "over"),
        (f"$\\lt$ 124M {COMMENT}", "124M", "under"), (f"100\\% of 124M{COMMENT}", "124M", "rounds"),
        (f"124M%\n{COMMENT}", "124M", "rounds"), (f"5\n\n124M {COMMENT}", "124M", "rounds"),
        (f"a \\\\% 5\n124M{COMMENT}", "124M", "rounds"),
        (f"5 % about\n124M{COMMENT}", "124M", "rounds"),
        (f"\\verb|%| 124M {COMMENT}", "124M", "rounds"),
        (f"124M\r\n{COMMENT}", "124M", "rounds"), (f"It has 124M. {COMMENT}", "124M", "rounds"),
    ],
)  # fmt: skip
def test_a_claim_is_found_where_it_stands(page: str, value: str, relation: str) -> None:
    claim, place = one_claim(page, "page.tex")
    assert (claim.model, claim.claim, claim.relation) == ("gpt2-small", "params.total", relation)
    if "$\\approx 124$M" not in page:  # markup parts this number
        assert page[place.start : place.end] == value
    assert claim.value == value


@pytest.mark.parametrize(
    "page",
    [
        f"\\begin{{verbatim}}\n1M {COMMENT}\\end{{verbatim}}", f"\\verb|1M {ABOUT}|",
        f"\\begin{{lstlisting}}\n1M {COMMENT}\\end{{lstlisting}}", f"1M \\{COMMENT}",
        f"\\end{{document}}\n1M {COMMENT}", "1M % of txcalc\n", f"\\verb|1M {COMMENT.strip()}|",
        f"\\begin{{comment}}\n1M {COMMENT}\\end{{comment}}",
    ],
)  # fmt: skip
def test_verbatim_text_and_other_comments_hold_none(page: str) -> None:
    assert claims_of(page, "page.tex") == []


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        (f"It has 124M of them {COMMENT}", "no number stands right before"),
        (f"124M\n\n{COMMENT}", "no number stands right before"),
        (f"124M % was 124M\n{COMMENT}", "no number stands right before"),
        (f"$9 \\pm 1$ {COMMENT}", "two numbers"), (f"9--10 {COMMENT}", "two numbers"),
        (f"$1{{,}}5$ {COMMENT}", "is no number that can be read"),
        (f"$\\ge 5$ {COMMENT}", "'\\\\ge' before the number is not read"),
    ],
)  # fmt: skip
def test_a_comment_that_is_no_claim_is_refused(page: str, problem: str) -> None:
    [(error, _, _)] = claims_of(page, "page.tex")
    assert problem in str(error)
