"""Claims files: rows that are read, rows that are refused, and what is expected of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.pages import ROW, check


def test_an_expression_in_yaml_may_be_a_megabyte_long_or_nested_deep(tmp_path: Path) -> None:
    for claim, said in (("1+" * 400_000 + "1", "800,001 characters"), ("(" * 900 + "1", "nested")):
        row = f"claims:\n- id: a\n  model: toy\n  value: '1'\n  claim: {claim}\n"
        code, out, _ = check(tmp_path, row, "--format", "json", name="claims.yaml")
        assert code == 2
        assert said in json.loads(out)[0]["problem"]
        assert json.loads(out)[0]["line"] == 4


@pytest.mark.parametrize(
    ("row", "said"),
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
def test_a_bad_row_is_told(row: str, said: str, tmp_path: Path) -> None:
    code, out, _ = check(tmp_path, ROW + row, "--format", "json", name="claims.yaml")
    (found,) = json.loads(out)
    assert code == 2
    assert found["line"] == 2
    assert said in found["problem"]


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


def test_an_id_stands_once(tmp_path: Path) -> None:
    row = "- {id: a, model: toy, claim: params.total, value: '1'}\n"
    code, out, _ = check(tmp_path, f"claims:\n{row}{row}", "--format", "json", name="claims.yaml")
    assert code == 2
    assert "the id 'a' stands twice" in json.loads(out)[1]["problem"]


@pytest.mark.parametrize(
    "options",
    ["kv=fp8 ctx=2048", "{kv: fp8, ctx: 2048}", "{kv: fp8, ctx: '2048'}", "' kv=fp8\tctx=2048 '"],
)
def test_options_are_a_mapping_or_written_as_in_a_comment(options: str, tmp_path: Path) -> None:
    row = "{id: a, model: gpt3, claim: kvcache.sequence, value: 4.5 GiB, options: " + options + "}"
    ran = check(tmp_path, f"claims:\n- {row}\n", name="claims.yaml")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("2048", "options: a mapping is needed"), ("fp8", "options: 'fp8' is none"),
        ("--kv=fp8", "without '--'"), ("kv=fp8 kv=int4", "given twice"), ("[kv=fp8]", "a mapping"),
        ("kvv=fp8", "no option 'kvv'; did you mean 'kv'"), ("phase=train", "changes nothing here"),
    ],
)  # fmt: skip
def test_options_that_are_none_are_refused(options: str, problem: str, tmp_path: Path) -> None:
    row = f"- {{id: a, model: gpt3, claim: kvcache.token, value: 1, options: {options}}}"
    ran = check(tmp_path, f"claims:\n{row}\n", name="claims.yaml")
    assert (ran.code, problem in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("field", ["value", "should_be", "inputs"])
def test_an_integer_of_400_digits_is_never_read_in_part(field: str, tmp_path: Path) -> None:
    fields = {"value": "1", "should_be": "1", "inputs": "1"} | {field: "1" * 400}
    expect = {"inputs": "rounded-inputs", "should_be": "misprint"}.get(field, "holds")
    names = ("value",) if field == "value" else ("value", field)
    row = "".join(f", {name}: {fields[name]}" for name in names)
    text = f"claims:\n- {{id: a, model: toy, claim: params.total, expect: {expect}{row}}}\n"
    ran = check(tmp_path, text, name="claims.yaml")
    assert (ran.code, f"{field}: an integer of more than 38 digits" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("claims: 1", 1, "a list of 'claims'"), ("claims: []\nclaim: []\n", 1, "field 'claim'"),
        ("claims:\n- {id: a\n", 3, "bad YAML"), ("%TAG ! x:\n---\nclaims: []\n", 1, "directives"),
        ("claims:\n- {id: a, id: b}\n", 2, "stands twice"),
    ],
)  # fmt: skip
def test_a_file_that_lists_no_claims_is_refused_at_its_line(
    text: str, line: int, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "a:1: b").mkdir()
    ran = check(tmp_path / "a:1: b", text, name="claims.yaml")
    assert ran.code == 2
    assert ran.err.startswith(f"txcalc: {tmp_path}/a:1: b/claims.yaml:{line}: ")
    assert problem in ran.err
