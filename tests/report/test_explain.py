"""Explanations: printed formulas are worth what they explain, read well, and tell every letter."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from fractions import Fraction
from typing import Any

import pytest

from tests.support.reckoning import estimate, reckon
from tests.support.running import ACCOUNTS, BUNDLED, answer, data, get, named, report, run
from txcalc.accounts import registry
from txcalc.errors import RefusedError
from txcalc.exact.quantity import is_estimate
from txcalc.model.model import Model
from txcalc.render.explanation import explanation_table
from txcalc.report.explain import explain
from txcalc.report.report import Report
from txcalc.workload.question import Question

READ = ("gpt2-small", "mixtral-8x7b", "deepseek-v3", "gemma-3-4b-text", "jamba-v0.1")
CLOSE = Fraction(1, 10**30)


def explained(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer("explain", *arguments, "--format", "json"))
    return found


def sampled(model: Model) -> list[tuple[Report, str]]:
    """An address at random of every account that answers, and the last one that it shows."""
    chosen = []
    for account in ACCOUNTS:
        try:
            of_account = report(account, model, ctx=300, phase="prefill")
        except RefusedError:
            continue
        names = list(of_account.figures)
        some = random.Random(model.name).choice(names)
        chosen += [(of_account, name) for name in {some, of_account.shown[-1]}]
    return chosen


@pytest.mark.parametrize("name", BUNDLED)
def test_printed_numbers_are_worth_the_value_in_every_step(name: str) -> None:
    for of_account, address in sampled(named(name)):
        found = explain(of_account, address)
        for step in found.steps:
            if is_estimate(step.quantity):
                off = abs(estimate(step.substituted) - step.quantity.value)
                assert off <= abs(step.quantity.value) * CLOSE, (address, step.name)
            else:
                assert reckon(step.substituted) == step.quantity.value, (address, step.name)
        if address == of_account.shown[-1]:
            text = explanation_table(found)
            assert max(map(len, text.splitlines())) <= 80, (address, text)


def letters_of(formula: str) -> set[str]:
    calls = {"min", "max", "sum", "tally", "floor", "ceil", "t"}
    return set(re.findall(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*", formula)) - calls


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    "address", ["params.total", "flops.total", "kvcache.total", "intensity.decode"]
)
def test_every_name_of_a_formula_is_a_step_or_in_the_legend(name: str, address: str) -> None:
    found = explained(name, address)
    steps = {step["address"] for step in found["steps"]}
    legend = {symbol["name"]: symbol for symbol in found["symbols"]}
    for step in (found, *(s for s in found["steps"] if "same_as" not in s)):
        assert letters_of(step["formula"]) <= steps | set(legend), step
    for symbol in legend.values():
        assert symbol["meaning"], symbol
        assert symbol["from"], symbol
        if "formula" in symbol:
            assert letters_of(symbol["formula"]) <= set(legend)


@pytest.mark.parametrize("name", READ)
def test_no_letter_of_a_row_is_broken(name: str) -> None:
    for command in ("generation", "show"):
        for line in answer(command, name, "--explain").splitlines():
            assert not re.search(r"[a-z]_(\s|$)", line), line


@pytest.mark.parametrize("name", READ)
def test_no_word_is_broken(name: str) -> None:
    legend = {symbol["name"] for symbol in explained(name, "flops.total")["symbols"]}
    text = answer("explain", name, "flops.total")
    assert all(re.search(rf"^ +{letter} ", text, re.MULTILINE) for letter in legend)
    for line in text.splitlines():
        assert not re.search(r"[a-z]_$|·[a-z]$", line.rstrip()), line


def test_a_short_formula_is_letters_and_a_long_one_names() -> None:
    cache = explained("gpt3", "kvcache.sequence", "--ctx", 2048)
    assert cache["formula"] == "2·n_layers·n_heads·head_dim·ctx·kv_bytes"
    assert cache["substituted"] == "2·96·96·128·2048·2"
    assert cache["value"] == 9663676416
    assert cache["steps"] == []
    whole = explained("deepseek-v3", "params.total")
    assert whole["formula"] == (
        "params.blocks + params.embedding + params.final_norm + params.head"
    )
    assert [step["address"] for step in whole["steps"]][:3] == [
        "params.blocks",
        "params.block.dense",
        "params.block.dense.attention",
    ]


def test_depth_overrides() -> None:
    letters = explained("deepseek-v3", "params.total", "--depth", 0)
    assert letters["steps"] == []
    assert "kv_rank" in letters["formula"]
    one = explained("gpt2-small", "params.total", "--depth", 1)
    assert one["formula"] == "params.blocks + params.embedding + params.final_norm"
    assert [step["address"] for step in one["steps"]] == one["formula"].split(" + ")


@pytest.mark.parametrize("name", READ)
def test_an_address_of_a_step_can_be_asked_for(name: str) -> None:
    known = registry.addresses_of(named(name))
    asked = [s for s in explained(name, "params.total")["steps"] if s["address"] in known]
    assert len(asked) > 1
    for step in asked:
        assert get(name, step["address"]) == step["value"]


def test_what_is_alike_is_printed_once() -> None:
    text = answer("explain", "deepseek-v3", "params.total")
    assert "as params.block.dense.norms" in text
    assert text.count("d_model·q_rank") == 1
    steps = explained("jamba-v0.1", "flops.total")["steps"]
    alike = {step["address"]: step.get("same_as") for step in steps}
    assert alike["flops.block.mamba_moe.ssm"] == "flops.block.mamba_dense.ssm"


def test_letters_that_differ_between_blocks_are_told_apart() -> None:
    formula = explained("gemma-3-4b-text", "kvcache.sequence", "--depth", 0)["formula"]
    assert "window" in formula
    scores = explained("gemma-3-4b-text", "flops.blocks", "--depth", 0)["formula"]
    assert "sliding.keys" in scores or "keys" in scores
    assert "ctx" in scores


def test_the_legend_tells_a_definition_once_and_where_a_letter_is_from(tmp_path: Any) -> None:
    text = answer("explain", "gpt2-small", "kvcache.token")
    assert text.count("d_model/n_heads") == 1
    assert "where left out" not in text
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 576,
        "intermediate_size": 1536, "max_position_embeddings": 8192, "num_attention_heads": 9,
        "num_hidden_layers": 30, "num_key_value_heads": 3, "tie_word_embeddings": True,
        "vocab_size": 49152,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    symbols = explained(tmp_path, "kvcache.token")["symbols"]
    origins = {symbol["name"]: symbol["from"] for symbol in symbols}
    assert origins["n_layers"] == "num_hidden_layers"
    assert origins["n_kv_heads"] == "num_key_value_heads"


def test_conventions_assumptions_and_sources_are_told() -> None:
    found = explained("deepseek-v3", "flops.block.dense.attention")
    assert any("multiply-add" in line for line in found["conventions"])
    assert any("phase token" in line for line in found["assumptions"])
    assert any("arXiv:2405.04434" in line for line in found["sources"])
    text = answer("explain", "deepseek-v3", "flops.block.dense.attention")
    assert "Source: mla: arXiv:2405.04434" in text


def test_a_tally_in_a_formula_is_explained_beside_it() -> None:
    """Nemotron-H repeats a pattern of unlike layers, so its counts are tallies of the pattern."""
    found = explained("nemotron-h-56b", "params.total")
    assert any("tally(n_layers" in symbol.get("formula", "") for symbol in found["symbols"])
    [said] = [line for line in found["conventions"] if line.startswith("tally(")]
    assert said.split(":")[0] in " ".join(
        answer("explain", "nemotron-h-56b", "params.total").split()
    )
    plain = explained("gpt2-small", "params.total")["conventions"]
    assert plain
    assert [line for line in found["conventions"] if line not in plain] == [said]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gpt2-small", "params.totl"], "params.totl"),
        (["deepseek-v3", "params.block"], "differs between blocks"),
        (["roberta-base", "kvcache.total"], "encoder-only"),
    ],
)
def test_what_cannot_be_explained_is_refused(arguments: list[str], said: str) -> None:
    ran = run("explain", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


EXPLAINED = [
    ("params", "deepseek-v3"), ("params", "gpt2-small", "--tensors"), ("flops", "jamba-v0.1"),
    ("kvcache", "gemma-3-4b-text"), ("intensity", "gpt3"), ("concurrency", "gpt3"),
    ("generation", "toy"), ("show", "mixtral-8x7b"), ("kvcache", "toy", "gpt3"),
]  # fmt: skip


@pytest.mark.parametrize("command", EXPLAINED, ids=" ".join)
def test_explain_adds_the_formula_to_every_row(command: tuple[str, ...]) -> None:
    plain, full = data(*command), data(*command, "--explain")
    flat = [row for model in full for row in model["rows"]]
    assert [r["address"] for m in plain for r in m["rows"]] == [row["address"] for row in flat]
    for row in flat:
        exact = Fraction(row.get("exact", row["value"]))
        if (
            not row.get("estimate")
            and "distinct" not in row["formula"]
            and "^(" not in row["formula"]
        ):
            assert reckon(row["substituted"]) == exact, row["address"]
            known = {s["name"]: Fraction(s.get("exact", s["value"])) for s in row["symbols"]}
            assert reckon(row["formula"], known) == exact
    lines = list(csv.DictReader(io.StringIO(answer(*command, "--explain", "--format", "csv"))))
    assert [line["formula"] for line in lines] == [row["formula"] for row in flat]
    table = answer(*command, "--explain")
    assert max(map(len, table.splitlines())) <= 80
    marked = answer(*command, "--explain", "--format", "markdown")
    assert marked.count("|  | formula | ") == len(full)


def test_explained_shapes_are_formulas() -> None:
    (found,) = data("shapes", "toy", "--explain")
    assert found["rows"][0]["formula"] == ["B", "T", "d_model"]


def test_the_question_has_the_defaults_of_the_command_line() -> None:
    model = named("gpt2-small")
    found = explain(report("flops", model), "flops.total")
    assert found.steps[0].quantity.value == explained("gpt2-small", "flops.total")["value"]
    assert Question().phase == "token"
