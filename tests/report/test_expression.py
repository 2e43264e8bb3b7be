"""Arithmetic over addresses: in single answers, explanations, sweeps and claims alike."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import txcalc
from tests.support.reckoning import reckon
from tests.support.running import answer, get, run
from txcalc.errors import TxcalcError
from txcalc.exact.quantity import const
from txcalc.report.expression import addresses, evaluate

PALM = "6*n(params.total) + 12*dims.n_layers*dims.d_model*2048"
"""FLOPs of training on one token, as arXiv:2204.02311, appendix B, counts them."""


def texts() -> st.SearchStrategy[str]:
    """Sums and products of numbers, spaced at random."""
    numbers = st.integers(0, 99).map(str)
    spaces = st.sampled_from(("", " "))

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        joined = st.tuples(inner, spaces, st.sampled_from("+-*"), spaces, inner).map("".join)
        return joined | inner.map("({})".format) | inner.map("-({})".format)

    return st.recursive(numbers, larger, max_leaves=12)


@given(texts())
def test_arithmetic_is_that_of_exact_numbers(text: str) -> None:
    assert evaluate(text, const).value == reckon(text.replace("*", "·").replace("-(", "-1·("))


def test_a_bare_number_counts_nothing() -> None:
    total = get("gpt3", "params.total")
    assert get("gpt3", PALM) == 6 * total + 12 * 96 * 12288 * 2048
    assert get("gpt3", "n(params.total)") == get("gpt3", "n( params.head + params.total )") == total
    assert txcalc.get("gpt3", "flops.total / (2*n(params.total))", ctx=2048) == Fraction(
        get("gpt3", "flops.total", "--ctx", 2048), 2 * total
    )


def test_one_expression_is_the_same_everywhere(tmp_path: Path) -> None:
    text = "kvcache.sequence / weights.bytes + n(params.head)"
    options = ("--ctx", 2048, "--kv", "fp8", "--weights", "int8")
    value = Fraction(get("gpt3", text, *options))
    explained = json.loads(answer("explain", "gpt3", text, *options, "--format", "json"))
    assert Fraction(explained["exact"]) == value
    assert {"kvcache.sequence", "weights.bytes"} <= {s["address"] for s in explained["steps"]}
    swept = answer("sweep", "gpt3", text, *options[2:], "--over", "ctx=1024,2048",
                   "--format", "json")  # fmt: skip
    assert Fraction(json.loads(swept.splitlines()[1])[text]["exact"]) == value
    assert txcalc.function("gpt3", text, "ctx", kv="fp8", weights="int8")(2048) == value
    page = tmp_path / "page.md"
    page.write_text(
        f"{value}<!-- txcalc: gpt3 {text} ctx=2048 kv=fp8 weights=int8 -->\n"
        f"{get('gpt3', PALM)}<!-- txcalc: gpt3 {PALM} -->\n"
    )
    assert run("check", page).code == 0


def test_a_swept_expression_is_one_column(tmp_path: Path) -> None:
    text = "params.block.ffn.matmul / params.block.matmul"
    out = answer("sweep", "gpt3", text, "params.total", "--over", "d_ff=1,49152", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert rows[1] == {"d_ff": "49152", text: repr(2 / 3), "params.total": "174604259328"}


def test_one_account_that_reads_an_option_is_enough() -> None:
    text = "kvcache.sequence / n(params.total)"
    assert get("gpt3", text, "--ctx", 2048) == Fraction(9663676416, 174604259328)
    for command in (("get",), ("explain",), ("sweep", "--over", "batch=1,2")):
        ran = run(command[0], "gpt3", text, *command[1:], "--scores", "causal")
        assert (ran.code, ran.out) == (2, "")
        assert "--scores changes nothing here: kvcache and params read --ctx" in ran.err
    ran = run("sweep", "gpt3", text, "--over", "prompt=1,2")
    assert "--over prompt changes nothing here: kvcache and params" in ran.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2*3", "'2*3' names no figure"),
        ("", "'' names no figure"),
        ("params.total +", "it ends too early"),
        ("params.total / params.mtp", "division by zero"),
        ("params.total + kvcache.token", "bytes added to parameters; n(...) is the bare number"),
        ("n(params.total", "a ')' is missing"),
        ("n + params.total", "no account 'n'"),
        ("params.total ^ 2", "'^ 2' cannot be read"),
        ("params.total + params.totl", "did you mean 'params.total'"),
        ("params.total*" + "9e999*" * 300 + "1", "out of range"),
        ("params.total + zork.total", "no account 'zork'"),
        ("-" * 60 + "params.total", "nested more than 50 deep"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(TxcalcError) as refusal:
        txcalc.get("gpt3", text)
    assert message in str(refusal.value)


def test_addresses_of_an_expression() -> None:
    assert addresses("n(params.a-b) - params.c*2") == ["params.a-b", "params.c"]
