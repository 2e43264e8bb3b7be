"""``txcalc check``: claims in Markdown and YAML, what fails or cannot be read, what is written."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.support.running import run
from txcalc.claims import markdown
from txcalc.claims.claim import Claim
from txcalc.claims.comments import MAX_NESTING, comments
from txcalc.errors import TxcalcError
from txcalc.sources.bundled import configs

TOTAL = "<!-- txcalc: gpt2-small params.total -->"
HOLDS = f"GPT-2 small has 124,439,808{TOTAL} parameters.\n"
STALE = f"It has 125M{TOTAL} of them.\n"
ROW = "claims:\n- {id: a, model: gpt2-small, claim: params.total, "


def check(folder: Path, text: str, *options: str, name: str = "page.md") -> tuple[int, str, str]:
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return run("check", path, *options)


def test_bundled_claims_hold() -> None:
    ran = run("check", f"{configs()}/claims")
    assert ran.code == 0, ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def test_bundled_claims_all_have_a_public_source() -> None:
    found = json.loads(run("check", f"{configs()}/claims", "--format", "json").out)
    assert len(found) > 200
    assert all(row["source"] for row in found)
    assert {row["expect"] for row in found} == {"holds", "misprint", "rounded-inputs"}


@pytest.mark.parametrize(
    "text",
    [
        HOLDS, f"# Of 124M{TOTAL}\n", f"- one\n- **124M**{TOTAL}\n", f"| a | 124M{TOTAL} |\n",
        f"> 124M{TOTAL}\n", f"`124439808`{TOTAL}\n",
        "about 125M<!-- txcalc: gpt2-small params.total within=3% -->",
        f"- > 100M{TOTAL}\n- about", f"text\n\n1. > **100M**{TOTAL}\n",
        f"| a |\n|--|\n| > 100M{TOTAL} |",
        f"## > 100M{TOTAL}", f"- over > 100M{TOTAL}",
        "**About**\n125M<!-- txcalc: gpt2-small params.total within=3% -->",
        f"it stays <\r\n125M{TOTAL}", f"In 2020\n124M{TOTAL}", f"> it stays <\n> 125M{TOTAL}",
        f"<div>\n<b>in 1</b> 2<br>\n124M{TOTAL}</div>",
        f"it is > 100M{TOTAL}\n", f"a < 200M{TOTAL}\n",
        "約1.24億<!--txcalc:gpt2-small params.total within=1%-->",
        "GPT-3 has 175B<!-- txcalc: gpt3 params.total -->", f"パラメータは1.24億{TOTAL}",
        "66.7%<!-- txcalc: gpt2-small params.block.ffn.matmul / params.block.matmul -->",
        "9 GiB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->",
        "4.5 GiB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 kv=fp8 -->",
        "380M<!-- txcalc: gpt2-small params.total set=n_layers=48 -->",
    ],
)  # fmt: skip
def test_a_claim_in_markdown_holds(text: str, tmp_path: Path) -> None:
    code, out, err = check(tmp_path, text)
    assert (code, err) == (0, ""), out
    assert "0 hold" not in out


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
    assert list(markdown.claims(text.replace("{}", TOTAL) + "\n", "page.md")) == []


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
    [(claim, _, place)] = markdown.claims(page, "page.md")
    assert isinstance(claim, Claim), claim
    assert (claim.value, claim.relation) == (value, "rounds")
    if value in text:
        assert (page[place.start : place.end], page[place.end :][:1]) in (
            (value, "<"), (value, "_"), (value, "~"), (value, "]"),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (STALE, "it is 124,439,808 parameters"),
        ("9 GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->", "GB is written where GiB is meant"),
        ("9.66 GiB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->", "GiB is written where GB"),
        ("9.66B<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->", "B means bytes here"),
        (f"it is > 1B{TOTAL}", "it is only 124,439,808"),
        (f"it is < 1M{TOTAL}", "it is as much as 124,439,808"),
    ],
)
def test_what_does_not_hold_ends_with_1_and_is_explained(
    text: str, told: str, tmp_path: Path
) -> None:
    code, out, _ = check(tmp_path, f"\n{text}\n\n{HOLDS}")
    flat = " ".join(out.split())
    assert code == 1
    assert told in flat
    assert "page.md:2: " in out.replace("\n", "")
    assert (
        "params.blocks + params.embedding + params.final_norm" in flat
        or "2·n_layers·n_heads" in flat
    )
    assert "2 claims: 1 hold, 1 fail" in out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"none{TOTAL}", "no number stands right before"), (f"9 or 10{TOTAL}", "9 and 10"),
        (f"9-10{TOTAL}", "two numbers"), (f"2 x 768{TOTAL}", "two numbers"),
        (f"5 parsecs{TOTAL}", "'parsecs' is no unit"),
        (f"9 GiB/s{TOTAL}", "'GiB/s' is no unit; did you mean 'GiB'"),
        (f"124.439.808{TOTAL}", "write it as 124,439,808, with commas between thousands"),
        (f"**124_439_808**{TOTAL}", "write it as 124,439,808, with commas between thousands"),
        (f"10^8{TOTAL}", "'10^8' is no number that can be read"),
        (f"10<sup>8</sup>{TOTAL}", "'10^8' is no number that can be read"),
        (f"$1.25 \\times 10^8{TOTAL}", "'10^8' is no number that can be read"),
        (f"123'439'808{TOTAL}", "write it as 123,439,808, with commas between thousands"),
        (f"GPT-2{TOTAL}", "'GPT-2' is no number that can be read"),
        (f"124M ± 1M{TOTAL}", "two numbers it could mean: 124M and 1M"),
        (f"124M±1M{TOTAL}", "two numbers it could mean: 124M and 1M"),
        (f"it is ≠ 10{TOTAL}", "'≠' before the number is not read"),
        (f"About 125M{TOTAL}", "'About' before the number needs within=3%"),
        (f"5−5{TOTAL}", "two numbers it could mean: 5 and 5"),
        (f"v1.13{TOTAL}", "'v1.13' is no number that can be read"),
        (f"foo_13{TOTAL}", "'foo_13' is no number that can be read"),
        (f"it is <= 10{TOTAL}", "'<=' before the number is not read"),
        (f"it is >= 10{TOTAL}", "'>=' before the number is not read"),
        (f"it is ≥ 10{TOTAL}", "'≥' before the number is not read"),
        (f"it is >> 10{TOTAL}", "'>>' before the number is not read"),
        (f"9,5{TOTAL}", "'9,5' is no number that can be read; write it as 124,439,808, 124M"),
        ("124M<!-- TXCALC: gpt2-small params.total -->", "begins with 'txcalc:', not 'TXCALC:'"),
        ("124M<!-- txcalc gpt2-small params.total -->", "begins with 'txcalc:', not 'txcalc'"),
        ("124M<!--txcalc： gpt2-small params.total-->", "begins with 'txcalc:', not 'txcalc：'"),
        ("5<!-- txcalc: gpt3 flops.total ctx=x -->", "option ctx: 'x' is no whole number"),
        ("5<!-- txcalc: gpt3 flops.total ctx=1e3 -->", "option ctx: '1e3' is no whole number"),
        ("5<!-- txcalc: gpt3 flops.total macs=2 -->", "option macs=2: true or false is needed"),
        ("5<!-- txcalc: gpt3 flops.total phase=tok -->", "'tok' is not known; did you mean"),
        ("5<!-- txcalc: gpt2-small params.totl -->", "no figure 'params.totl'"),
        ("5<!-- txcalc: gpt2-smal params.total -->", "did you mean 'gpt2-small'"),
        ("5<!-- txcalc: gpt2-small -->", "a model and an address"),
        ("5<!-- txcalc: -->", "a model"),
        ("5<!-- txcalc: gpt2-small params.total --kv fp8 -->", "without '--'"),
        ("5<!-- txcalc: gpt2-small params.total ctxx=5 -->", "no option 'ctxx'"),
        ("5<!-- txcalc: gpt2-small params.total ctx=5 ctx=6 -->", "twice"),
        ("5<!-- txcalc: gpt2-small params.total / 0 -->", "division by zero"),
        ("5<!-- txcalc: gpt2-small params.total / params.head -->", "division by zero"),
        ("5<!-- txcalc: gpt2-small params.total + -->", "ends too early"),
        ("5<!-- txcalc: gpt2-small params.total + kvcache.total -->", "added to"),
        ("5<!-- txcalc: gpt2-small params.total; import os -->", "cannot be read"),
        ("5<!-- txcalc: gpt2-small " + "(" * 10_000 + "1" + ")" * 10_000 + " -->", "signs"),
        ("5<!-- txcalc: gpt2-small " + "(" * 900 + "1" + ")" * 900 + " -->", "nested more than"),
        ("5<!-- txcalc: gpt2-small " + "1+" * 500_000 + "1 -->", "1,000,0"),
        ("5<!-- txcalc: gpt2-small " + "1e99*" * 300 + "1 -->", "out of range"),
        (f"≈ 5{TOTAL}", "within=3%"), ("5<!-- txcalc: toy params.total within=3% -->", "needs ≈"),
        ("≈5<!-- txcalc: toy params.total within=300% -->", "a share of the number"),
        ("5<!-- txcalc: - params.total -->", "standard input"), ("5 GiB" + TOTAL, "counts bytes"),
        ("5<!-- txcalc: gpt2-small params.total", "never closed"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_ends_with_2_by_file_and_line(
    text: str, told: str, tmp_path: Path
) -> None:
    code, out, _ = check(tmp_path, f"{HOLDS}\n{text}\n", "--format", "json")
    first, second, *_ = json.loads(out)
    assert code == 2
    assert first["holds"]
    assert (second["line"], second["status"]) == (3, "unreadable")
    assert told in f"page.md:3 {second['problem']}"


def test_an_expression_in_yaml_may_be_a_megabyte_long_or_nested_deep(tmp_path: Path) -> None:
    for claim, told in (("1+" * 400_000 + "1", "800,001 characters"), ("(" * 900 + "1", "nested")):
        row = f"claims:\n- id: a\n  model: toy\n  value: '1'\n  claim: {claim}\n"
        code, out, _ = check(tmp_path, row, "--format", "json", name="claims.yaml")
        assert code == 2
        assert told in json.loads(out)[0]["problem"]
        assert json.loads(out)[0]["line"] == 4


@pytest.mark.parametrize(("length", "code"), [(4000, 0), (4001, 2)])
def test_a_comment_has_at_most_4000_characters(length: int, code: int, tmp_path: Path) -> None:
    inside = " gpt2-small params.total".ljust(length)
    ended, out, _ = check(tmp_path, f"124M<!-- txcalc:{inside}-->\n", "--format", "json")
    assert ended == code
    assert ("a comment of 4,001 " in json.loads(out)[0]["problem"]) == (code == 2)


def test_hostile_markdown_is_read_in_no_time() -> None:
    for text in (
        "`" * 200_000,
        "<!-- txcalc:" * 50_000,
        "` `` ``` " * 40_000,
        "1," * 200_000 + TOTAL,
    ):
        assert len(list(markdown.claims(text, "page.md"))) <= 1


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('value: "1", expect: misprint}', "needs should_be"),
        ('value: "1", expect: rounded-inputs}', "needs inputs"),
        ('value: "1", relation: within, tolerance: 3%}', "because"),
        ('value: "1", should_be: "2"}', "should_be means nothing where expect is holds"),
        ("value: '1', zork: 1}", "zork"),
        ("relation: rounds}", "value"), ("value: '1', options: {set: 5}}", "set is NAME=V"),
        ("value: '1', relation: equals}", "relation: 'equals' is not known; known: rounds"),
        ("value: '1', tolerance: 3%}", "tolerance means nothing where relation is rounds"),
    ],
)  # fmt: skip
def test_a_bad_row_is_told(row: str, told: str, tmp_path: Path) -> None:
    code, out, _ = check(tmp_path, ROW + row, "--format", "json", name="claims.yaml")
    (found,) = json.loads(out)
    assert code == 2
    assert found["line"] == 2
    assert told in found["problem"]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ('value: "125M", expect: misprint, should_be: "124M"}', 0),
        ('value: "124M", expect: misprint, should_be: "124M"}', 1),
        ('value: 379603200, options: {set: n_layers=48}}', 0),
        ('value: 124439809, expect: misprint, should_be: 124439808}', 0),
        ("value: 125439808, expect: rounded-inputs, inputs: 125439808}", 0),
        ('value: "125M", expect: misprint, should_be: "126M"}', 1),
        ('value: "126M", expect: misprint, should_be: "125M"}', 1),
        ('value: "126M", expect: misprint, should_be: "123M"}', 1),
        ('value: "125M", expect: rounded-inputs, inputs: 12 * 7.09e6 + 39.9e6}', 0),
        ('value: "126M", expect: rounded-inputs, inputs: 12 * 7.09e6 + 39.9e6}', 1),
        ('value: "124M", expect: rounded-inputs, inputs: 124e6}', 1),
        ('value: "125M", relation: within, tolerance: 1%, because: about}', 0),
        ("value: 124439808}", 0), ('value: "124.4M", relation: truncates}', 0),
    ],
)  # fmt: skip
def test_expectations(row: str, code: int, tmp_path: Path) -> None:
    text = ROW + row
    assert check(tmp_path, text, name="claims.yaml")[0] == code
    if "expect" in row:
        check(tmp_path, text, "--write", name="claims.yaml")
        assert (tmp_path / "claims.yaml").read_text("utf-8") == text


def test_files_that_cannot_be_read_are_told_and_the_others_checked(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"one\ntwo \xe9\n")
    (tmp_path / "broken.yaml").write_text("claims:\n- {id: a\n", "utf-8")
    (tmp_path / "other.yaml").write_text("on: [push]\n", "utf-8")
    (tmp_path / "good.md").write_text(HOLDS, "utf-8")
    ran = run("check", tmp_path, tmp_path / "none.md", "--format", "json")
    found = {Path(row["file"]).name: row for row in json.loads(ran.out)}
    assert ran.code == 2
    assert (found["latin.md"]["line"], found["latin.md"]["status"]) == (2, "unreadable")
    assert "not UTF-8" in found["latin.md"]["problem"]
    assert found["broken.yaml"]["status"] == found["none.md"]["status"] == "unreadable"
    assert found["good.md"]["holds"]
    assert "other.yaml" not in found


def test_a_file_that_is_reached_twice_is_checked_and_refreshed_once(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"9 GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->, 125M{TOTAL}\n", "utf-8")
    (tmp_path / "link.md").symlink_to(page)
    ran = run("check", "--write", page, page, tmp_path)
    assert ran.code == 0, ran.out
    assert "2 claims: 0 hold, 0 fail, 2 refreshed" in ran.out
    now = "10 GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->"
    assert page.read_text("utf-8") == f"{now}, 124M{TOTAL}\n"
    assert (tmp_path / "link.md").is_symlink()


def test_a_number_that_no_digit_of_its_style_tells_is_left_with_the_reason(tmp_path: Path) -> None:
    code, out, _ = check(tmp_path, f"1B{TOTAL}\n", "--write")
    assert code == 1
    assert "in its style it would be '0B', so it was left as it is" in " ".join(out.split())
    assert (tmp_path / "page.md").read_text("utf-8") == f"1B{TOTAL}\n"


def test_a_claim_that_cannot_be_replaced_does_not_keep_others_from_it(tmp_path: Path) -> None:
    parted = "**9** GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->"
    code, out, _ = check(tmp_path, f"{parted} or\n125M{TOTAL}\n", "--write")
    assert code == 1
    assert "its source reads otherwise, so it was left as it is" in " ".join(out.split())
    assert (tmp_path / "page.md").read_text("utf-8") == f"{parted} or\n124M{TOTAL}\n"
    folded = "claims:\n- id: a\n  model: gpt2-small\n  claim: params.total\n  value: >-\n    125M\n"
    row = "- {id: b, model: gpt2-small, claim: params.total, value: 125M}\n"
    code, _, _ = check(tmp_path, folded + row, "--write", name="claims.yaml")
    assert code == 1
    written = (tmp_path / "claims.yaml").read_text("utf-8")
    assert written == folded + row.replace("125M", "124M")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_a_refreshed_file_keeps_its_owner_and_mode(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(STALE, "utf-8")
    page.chmod(0o640)
    os.chown(page, 65534, 65534)
    assert run("check", "--write", page).code == 0
    kept = page.stat()
    assert (kept.st_uid, kept.st_gid, kept.st_mode & 0o777) == (65534, 65534, 0o640)


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code, out, _ = check(tmp_path, STALE, "--write")
    assert code == 2
    assert "No space left on device" in " ".join(out.split())
    assert [file.name for file in tmp_path.iterdir()] == ["page.md"]
    assert (tmp_path / "page.md").read_text("utf-8") == STALE


def test_a_folder_is_read_without_what_is_hidden_or_installed(tmp_path: Path) -> None:
    for name in ("a.MD", ".hidden/b.md", "node_modules/c.md", "sub/d.markdown", "e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(HOLDS, "utf-8")
    found = json.loads(run("check", tmp_path, "--format", "json").out)
    assert [Path(row["file"]).name for row in found] == ["a.MD", "d.markdown"]


def test_claims_stand_below_the_name_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(HOLDS, "utf-8")
    (tmp_path / "b.md").write_text(STALE, "utf-8")
    (tmp_path / "c.txt").write_text(STALE, "utf-8")
    lines = run("check", tmp_path / "a.md", tmp_path / "b.md").out.splitlines()
    first, second = (lines.index(f"{tmp_path}/{name}") for name in ("a.md", "b.md"))
    assert any("holds" in line for line in lines[first:second])
    assert any("fails" in line for line in lines[second:])
    assert f"{tmp_path}/a.md" not in run("check", tmp_path / "a.md").out
    told = " ".join(run("check", tmp_path / "c.txt").out.split())
    assert "neither Markdown (.md) nor YAML" in told
    assert "No such file" in run("check", tmp_path / "d.txt").out


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
    assert len(list(comments(text))) == parser.render(text).count("<!-- txcalc:")


@given(st.lists(st.sampled_from(PIECES + ODD), max_size=30).map("".join))
def test_any_page_is_read_and_a_number_is_where_it_is_said_to_be(text: str) -> None:
    found = list(markdown.claims(text, "page.md"))
    assert len(found) <= text.lower().count("txcalc")
    assert len({name for _, name, _ in found}) == len(found)
    for claim, _, place in found:
        if isinstance(claim, Claim) and place.end:
            assert text[place.start : place.end] == claim.value
            assert "<!--" not in claim.value


def test_an_id_stands_once(tmp_path: Path) -> None:
    row = "- {id: a, model: toy, claim: params.total, value: '1'}\n"
    code, out, _ = check(tmp_path, f"claims:\n{row}{row}", "--format", "json", name="claims.yaml")
    assert code == 2
    assert "the id 'a' stands twice" in json.loads(out)[1]["problem"]


def test_a_bundled_name_comes_before_a_file_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "gpt2-small").write_text("no model", "utf-8")
    assert check(tmp_path, HOLDS)[0] == 0


def test_github_annotations(tmp_path: Path) -> None:
    code, out, _ = check(tmp_path, HOLDS + STALE, "--format", "github")
    (line,) = out.splitlines()
    assert code == 1
    assert line.startswith(f"::error file={tmp_path}/page.md,line=2::")
    assert "%0A" in line


def test_an_annotation_is_one_line_whatever_its_claim_says(tmp_path: Path) -> None:
    row = '- {id: "a\\r\\nb", source: "100%\\rc", model: toy, claim: params.total, value: 1}'
    _, out, _ = check(tmp_path, f"claims:\n{row}\n", "--format", "github", name="claims.yaml")
    assert out.splitlines() == [out.removesuffix("\n")]
    assert "a%0D%0Ab: " in out
    assert "100%25%0Dc" in out


def test_write_keeps_style_line_ends_and_everything_else(tmp_path: Path) -> None:
    cache = "9 GB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->"
    text = f"\ufeffa 125M{TOTAL}\r\nb **1.20e8**{TOTAL}, {cache}\r\n{HOLDS}"
    code, out, _ = check(tmp_path, text, "--write")
    assert code == 0
    assert "3 refreshed" in out
    fresh = (tmp_path / "page.md").read_bytes().decode("utf-8")
    assert fresh == text.replace("125M", "124M").replace("1.20e8", "1.24e8").replace(
        "9 GB", "10 GB"
    )
    again = run("check", tmp_path / "page.md")
    assert again.code == 0


@pytest.mark.parametrize("value", ["{}", "'{}'", '"{}"'])
def test_write_keeps_the_quotes_of_yaml(value: str, tmp_path: Path) -> None:
    text = f"{ROW}value: {value}}}  # was {value}\n"
    code, out, _ = check(tmp_path, text.replace("{}", "125M"), "--write", name="claims.yaml")
    assert code == 0, out
    fresh = text.replace("{}", "124M", 1).replace("{}", "125M")
    assert (tmp_path / "claims.yaml").read_text("utf-8") == fresh


def test_write_leaves_what_it_cannot_express(tmp_path: Path) -> None:
    text = f"It has 5 billion{TOTAL} parameters.\n"
    code, _, _ = check(tmp_path, text, "--write")
    assert code == 1
    assert (tmp_path / "page.md").read_text("utf-8") == text


def test_write_refreshes_bounds(tmp_path: Path) -> None:
    code, _, _ = check(tmp_path, f"more than, it is > 125M{TOTAL}; it is < 1M{TOTAL}\n", "--write")
    assert code == 0
    text = (tmp_path / "page.md").read_text("utf-8")
    assert f"> 124M{TOTAL}" in text
    assert f"< 125M{TOTAL}" in text


def test_a_read_only_file_loses_nothing_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(STALE, "utf-8")
    path.chmod(0o444)
    (tmp_path / "other.md").write_text(STALE, "utf-8")
    ran = run("check", tmp_path, "--write", "--format", "json")
    told = {Path(row["file"]).name: row["problem"] for row in json.loads(ran.out)}
    assert ran.code == 2
    assert told["page.md"].endswith("; the file is read-only, so nothing of it was refreshed")
    assert path.read_text("utf-8") == STALE
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert "124M" in (tmp_path / "other.md").read_text("utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.md", "page.md"]


def test_write_follows_links_and_keeps_permissions(tmp_path: Path) -> None:
    real = tmp_path / "real.md"
    real.write_text(STALE, "utf-8")
    real.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(real)
    assert run("check", link, "--write").code == 0
    assert link.is_symlink()
    assert "124M" in real.read_text("utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_model_beside_the_document_is_found(tmp_path: Path) -> None:
    text = (Path(configs()) / "models" / "toy.yaml").read_text("utf-8")
    (tmp_path / "mine.yaml").write_text(text.replace("name: toy", "name: mine"), "utf-8")
    code, out, _ = check(tmp_path, "329,600<!-- txcalc: mine.yaml params.total -->")
    assert code == 0, out


def test_claims_of_a_line_have_names_of_their_own() -> None:
    found = [c for c, _, _ in markdown.claims(f"1{TOTAL} 2{TOTAL}\n3{TOTAL}\n", "page.md")]
    assert all(isinstance(claim, Claim) for claim in found)
    assert not any(isinstance(claim, TxcalcError) for claim in found)
    assert [c.id for c in found if isinstance(c, Claim)] == ["line 1", "line 1, 2", "line 2"]
