"""``txcalc check``: what holds, what fails, what cannot be read, and what is printed of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.pages import HOLDS, STALE, TOTAL, check
from tests.support.running import run
from txcalc.sources.bundled import configs


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
        f"about 124M{TOTAL}", f"ca. 124M{TOTAL}", f"≈ 124M{TOTAL}", f"~124,439,808{TOTAL}",
        f"$124{{,}}439{{,}}808${TOTAL}", f"$124\\,439\\,808${TOTAL}", f"124\\,439\\,808{TOTAL}",
        f"$1.24 \\times 10^8${TOTAL}", f"$1.24 \\times 10^{{8}}${TOTAL}", f"$> 100$M{TOTAL}",
        f"$\\approx 124$M{TOTAL}", f"it is $\\gt$ 100M{TOTAL}", f"124{{,}}439{{,}}808{TOTAL}",
        "$66.7\\%$<!-- txcalc: gpt2-small params.block.ffn.matmul / params.block.matmul -->",
        "9~GiB<!-- txcalc: gpt3 kvcache.sequence ctx=2048 -->",
    ],
)  # fmt: skip
def test_a_claim_in_markdown_holds(text: str, tmp_path: Path) -> None:
    code, out, err = check(tmp_path, text)
    assert (code, err) == (0, ""), out
    assert "0 hold" not in out


@pytest.mark.parametrize(
    ("text", "said"),
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
    text: str, said: str, tmp_path: Path
) -> None:
    code, out, _ = check(tmp_path, f"\n{text}\n\n{HOLDS}")
    flat = " ".join(out.split())
    assert code == 1
    assert said in flat
    assert "page.md:2: " in out.replace("\n", "")
    assert (
        "params.blocks + params.embedding + params.final_norm" in flat
        or "2·n_layers·n_heads" in flat
    )
    assert "2 claims: 1 hold, 1 fail" in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"none{TOTAL}", "no number stands right before"), (f"9 or 10{TOTAL}", "9 and 10"),
        (f"9-10{TOTAL}", "two numbers"), (f"2 x 768{TOTAL}", "two numbers"),
        (f"5 parsecs{TOTAL}", "'parsecs' is no unit"),
        (f"9 GiB/s{TOTAL}", "'GiB/s' is no unit; did you mean 'GiB'"),
        (f"124.439.808{TOTAL}", "write it as 124,439,808, with commas between thousands"),
        (f"**124_439_808**{TOTAL}", "write it as 124,439,808, with commas between thousands"),
        (f"10^8{TOTAL}", "'10^8' is no number that can be read"),
        (f"10<sup>8</sup>{TOTAL}", "'10^8' is no number that can be read"),
        (f"123'439'808{TOTAL}", "write it as 123,439,808, with commas between thousands"),
        (f"GPT-2{TOTAL}", "'GPT-2' is no number that can be read"),
        (f"124M ± 1M{TOTAL}", "two numbers it could mean: 124M and 1M"),
        (f"124M±1M{TOTAL}", "two numbers it could mean: 124M and 1M"),
        (f"it is ≠ 10{TOTAL}", "'≠' before the number is not read"),
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
        ("5<!-- txcalc: gpt2-small " + "(" * 10_000 + "1" + ")" * 10_000 + " -->", "characters"),
        ("5<!-- txcalc: gpt2-small " + "(" * 900 + "1" + ")" * 900 + " -->", "nested more than"),
        ("5<!-- txcalc: gpt2-small " + "1+" * 500_000 + "1 -->", "1,000,0"),
        ("5<!-- txcalc: gpt2-small " + "1e99*" * 300 + "1 -->", "out of range"),
        ("1" * 400 + TOTAL, "is no number that can be read"),
        ("1," * 200 + f"111{TOTAL}", "is no number that can be read"),
        (f"5<!-- txcalc: gpt2-small params.total + {'1' * 400} -->", "out of range"),
        ("5<!-- txcalc: gpt2-small params.total * 1e99 -->", "out of range"),
        ("5<!-- txcalc: gpt2-small params.total * 1e99 / 7 -->", "out of range"),
        (f"5<!-- txcalc: gpt2-small flops.total ctx={'1' * 400} -->", "option ctx"),
        (f"5<!-- txcalc: gpt2-small params.total set=d_model={'1' * 400} -->", "d_model"),
        ("5<!-- txcalc: hf:org/name params.total -->", "nothing is fetched for a page"),
        ("5<!-- txcalc: /dev/zero params.total -->", "no regular file"),
        ("5<!-- txcalc: gpt3 fit.slots device=/dev/zero -->", "no regular file"),
        (f"12{{,}}34{TOTAL}", "is no number that can be read"),
        (f"1{{,}}0245{TOTAL}", "is no number that can be read"),
        ("5<!-- txcalc: toy params.total within=3% -->", "needs ≈"),
        ("≈5<!-- txcalc: toy params.total within=300% -->", "a share of the number"),
        ("5<!-- txcalc: - params.total -->", "standard input"), ("5 GiB" + TOTAL, "counts bytes"),
        ("5<!-- txcalc: gpt2-small params.total", "never closed"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_ends_with_2_by_file_and_line(
    text: str, said: str, tmp_path: Path
) -> None:
    code, out, _ = check(tmp_path, f"{HOLDS}\n{text}\n", "--format", "json")
    first, second, *_ = json.loads(out)
    assert code == 2
    assert first["holds"]
    assert (second["line"], second["status"]) == (3, "unreadable")
    assert said in f"page.md:3 {second['problem']}"


@pytest.mark.parametrize(("length", "code"), [(4000, 0), (4001, 2)])
def test_a_comment_has_at_most_4000_characters(length: int, code: int, tmp_path: Path) -> None:
    inside = " gpt2-small params.total".ljust(length)
    ended, out, _ = check(tmp_path, f"124M<!-- txcalc:{inside}-->\n", "--format", "json")
    assert ended == code
    assert ("a comment of 4,001 " in json.loads(out)[0]["problem"]) == (code == 2)


def test_github_annotations(tmp_path: Path) -> None:
    code, out, _ = check(tmp_path, HOLDS + STALE, "--format", "github")
    (line,) = out.splitlines()
    assert code == 1
    assert line.startswith(f"::error file={tmp_path}/page.md,line=2::")
    assert "%0A" in line


def test_an_annotation_names_the_file_as_it_is_called(tmp_path: Path) -> None:
    _, out, _ = check(tmp_path, STALE, "--format", "github", name="a%\n:b, c\x1b.md")
    assert out.startswith(f"::error file={tmp_path}/a%25%0A%3Ab%2C c\\u001b.md,line=1::")


@pytest.mark.parametrize(
    ("number", "shown"),
    [("5%", "0.37%"), ("5.0%", "0.368%"), ("0.5\\%", "0.368%"), ("0.05", "0.003681031852")],
)
def test_a_share_is_told_as_it_is_written(tmp_path: Path, number: str, shown: str) -> None:
    page = f"{number}<!-- txcalc: gpt3 params.embedding / params.total -->\n"
    _, out, _ = check(tmp_path, page)
    assert f"is documented, but it is {shown}\n" in out
    assert shown[:8] in out.splitlines()[3]


def test_an_annotation_is_one_line_whatever_its_claim_says(tmp_path: Path) -> None:
    row = '- {id: "a\\r\\nb", source: "100%\\rc", model: toy, claim: params.total, value: 1}'
    _, out, _ = check(tmp_path, f"claims:\n{row}\n", "--format", "github", name="claims.yaml")
    assert out.splitlines() == [out.removesuffix("\n")]
    assert r"a\r\nb: " in out
    assert r"100%25\rc" in out
