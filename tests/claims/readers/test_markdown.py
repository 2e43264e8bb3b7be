"""Comments in Markdown: which are claims, and what a reader sees before them."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.support.pages import TOTAL, claims_of
from txcalc.claims.claim import Claim
from txcalc.claims.readers.commonmark import MAX_INLINE_NESTING, MAX_NESTING
from txcalc.claims.readers.markdown import comments
from txcalc.errors import TxcalcError

CODE = [
    "```\n1M{}\n```", "~~~ md\n1M{}\n~~~", "`1M{}`", "``1M{} ` ``", "text\n\n    1M{}",
    "- list\n\n  ```\n  1M{}\n  ```", "> ```\n> 1M{}\n> ```", "- item\n\n      1M{}",
    "1. item\n\n       1M{}", "- a\n  - b\n\n        1M{}", "-     1M{}", "> a\n>\n>     1M{}",
    "# h\n    1M{}", "    ```\n    1M{}\n    ```", "```\n    ```\n1M{}\n```", "<pre>\n1M{}\n</pre>",
    "<script>\n1M{}\n</script>", "---\nkey: 1M{}\n---",
    "+++\nkey = '1M{}'\n+++", "<!--\nold: 1M{}\nb", "<!-- old 1M{}", "<div title='1M{}'>",
    "<div>\n<script>\nvar s='1M{}';\n</script>\n</div>", "<div><pre>1M{}</pre></div>",
    "x <!-- old 1M{} b", "<!--\n<div>old: 1M{}\n-->",
    "\ufeff---\r\nkey: 1M{}\r\nb: c\r\n---\r\ntext", "\\<!-- txcalc: toy params.total -->",
    "[a]: http://a.b '1M{}'", "&lt;!-- txcalc: toy params.total --&gt;",
]  # fmt: skip


@pytest.mark.parametrize("text", CODE)
def test_code_holds_no_claims(text: str) -> None:
    assert claims_of(text.replace("{}", TOTAL) + "\n") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("# 1M{}", "1M"), ("1. x\n   1M{}", "1M"), ("| a | b |\n|--|--|\n| 1 | 1M{} |", "1M"),
        ("| a | b |\n|--|--|\n| `1 | 1M{} |", "1M"), ("- a\n  ```\n  x\n\npara 1M{}", "1M"),
        ("# h ` x\n- `y 1M{}", "1M"), ("_1M_{}", "1M"), ("__1M__{}", "1M"), ("~~1M~~{}", "1M"),
        ("<b>1M</b>{}", "1M"), ("[1M](http://a.b/1M){}", "1M"), ("<br>1M{}", "1M"),
        ("2<br>1M{}", "1M"), ("<div>1M{}</div>", "1M"), ("<table><tr><td>1M{}</td>", "1M"),
        ("2048 -> 1M{}", "1M"), ("so => 1M{}", "1M"), ("→ 1M{}", "1M"), ("`<a>` 1M{}", "1M"),
        ("+5{}", "+5"), ("x = -5{}", "-5"), ("(5{}", "5"),
        ("&lt;!-- txcalc: a b --&gt; 1M{}", "1M"),
        ("`1M<!-- txcalc: gpt3 params.total -->` or 7M{}", "7M"), ("\ufeff# 1M{}", "1M"),
        ("a\r\n> 1M{}", "1M"), ("---\n\n# 1M{}\n\n---\n", "1M"),
        ("---\nkey: x\n---\n1M{}", "1M"), ("9&nbsp;GiB{}", "9\u00a0GiB"), ("**9** GiB{}", "9 GiB"),
    ],
)  # fmt: skip
def test_a_number_is_what_a_reader_sees(text: str, value: str) -> None:
    page = text.replace("{}", TOTAL)
    [(claim, _, place)] = claims_of(page, "page.md")
    assert isinstance(claim, Claim), claim
    assert (claim.value, claim.relation) == (value, "rounds")
    if value in text:
        assert (page[place.start : place.end], page[place.end :][:1]) in (
            (value, "<"), (value, "_"), (value, "~"), (value, "]"),
        )  # fmt: skip


def test_hostile_markdown_is_read_in_no_time() -> None:
    for text in (
        "`" * 200_000,
        "<!-- txcalc:" * 50_000,
        "` `` ``` " * 40_000,
        "1," * 200_000 + TOTAL,
    ):
        assert len(list(claims_of(text, "page.md"))) <= 1


PIECES = (
    "GPT", " ", "\n", "\n\n", "# ", "- ", "1. ", "> ", "| ", "|--|--|\n", "`", "``", "```\n",
    "~~~\n", "**", "_", "~~", "[", "](u)", "![", "<b>", "</b>", "<br>", "<sup>", "</pre>", "<div>",
    "1", "23", "124M", "9 GB", "-", "->", ">", "<", "≈ ", "10^8", "&lt;", "&nbsp;", "\\", "    ",
    "\t", "\r\n", "\r", "\ufeff", "\x00", "億", TOTAL, "<!-- txcalc: gpt3 kvcache.sequence -->",
)  # fmt: skip


ODD = ("<pre>", "---\n", "<!--", "-->", "<!-- x -->", "<!-- txcalc:", "<!-- txcalc -->")
"""What may hide a comment, or be half of one."""


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_a_comment_is_a_claim_where_a_rendered_page_has_it_as_a_comment(text: str) -> None:
    assume(not re.search(r"</?[A-Za-z][^>]*<!--", text))  # it would be part of a tag
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(
        ["table", "strikethrough"]
    )
    assume(text.count("[") <= MAX_INLINE_NESTING)
    assert len(list(comments(text))) == parser.render(text).count("<!-- txcalc:")


@given(st.lists(st.sampled_from(PIECES + ODD), max_size=30).map("".join))
def test_any_page_is_read_and_a_number_is_where_it_is_said_to_be(text: str) -> None:
    found = list(claims_of(text, "page.md"))
    assert len(found) <= text.lower().count("txcalc")
    assert len({name for _, name, _ in found}) == len(found)
    for claim, _, place in found:
        if isinstance(claim, Claim) and place.end:
            assert text[place.start : place.end] == claim.value
            assert "<!--" not in claim.value


def test_claims_of_a_line_have_names_of_their_own() -> None:
    found = [c for c, _, _ in claims_of(f"1{TOTAL} 2{TOTAL}\n3{TOTAL}\n", "page.md")]
    assert all(isinstance(claim, Claim) for claim in found)
    assert not any(isinstance(claim, TxcalcError) for claim in found)
    assert [c.id for c in found if isinstance(c, Claim)] == ["line 1", "line 1, 2", "line 2"]
