"""The library's face: small, documented, typed, and the same numbers as the command line."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import txcalc
from tests.sources.test_bad_descriptions import GOOD
from tests.support.running import get
from txcalc import library


def test_all_is_what_there_is() -> None:
    assert sorted(txcalc.__all__) == txcalc.__all__
    assert {*library.__all__, "TxcalcError"} == set(txcalc.__all__)
    for name in txcalc.__all__:
        thing = getattr(txcalc, name)
        assert inspect.getdoc(thing)
        assert all(p.annotation is not p.empty for p in inspect.signature(thing).parameters.values()
                   if p.name not in ("self", "args")) or name == "TxcalcError"  # fmt: skip
    with pytest.raises(AttributeError, match="zork"):
        _ = txcalc.zork


def test_importing_it_imports_little() -> None:
    code = "import sys, txcalc; print([m for m in ('rich', 'typer', 'yaml') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("model", ["gpt2-small", txcalc.load("gpt2-small")], ids=["name", "model"])
def test_a_model_or_its_name(model: Any) -> None:
    assert txcalc.params(model).total == 124439808
    assert txcalc.params(model).block.attention.matmul == 2359296
    assert txcalc.flops(model, ctx=1024).block.value == 17301504
    assert txcalc.get(model, "flops.total", ctx=1024) == get(
        "gpt2-small", "flops.total", "--ctx", 1024
    )
    assert txcalc.function(model, "kvcache.total", "ctx", "batch")(7, 3) == get(
        "gpt2-small", "kvcache.total", "--ctx", 7, "--batch", 3
    )
    assert txcalc.weights(model, dtype="fp32").bytes == 4 * 124439808
    assert txcalc.kvcache(model, ctx=10).total == get("gpt2-small", "kvcache.total", "--ctx", 10)
    assert txcalc.generation(model, prompt=20, new=100).tokens.ratio == Fraction(139, 2)
    assert txcalc.intensity(model, prompt=16).prefill == 16
    assert isinstance(txcalc.concurrency(model).ratio, Fraction)


def test_a_path_is_a_model_and_an_answer_can_be_copied(tmp_path: Path) -> None:
    described = tmp_path / "mine.yaml"
    described.write_text(GOOD, "utf-8")
    assert txcalc.params(txcalc.load(described)).total > 0
    answer = txcalc.params("gpt2-small").block
    for again in (copy.copy(answer), copy.deepcopy(answer), pickle.loads(pickle.dumps(answer))):
        assert again.attention.q == 589824


def test_changes_are_those_of_set() -> None:
    assert txcalc.params(txcalc.load("gpt2-small", ["n_layers=48"])).total == 379603200


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda: txcalc.load("gpt2-smal"), "did you mean 'gpt2-small'"),
        (lambda: txcalc.get("gpt5-huge", "params.total"), "gpt5-huge"),
        (lambda: txcalc.get("gpt3", "params.totl"), "params.totl"),
        (lambda: txcalc.get("gpt3", "flops.total", ctxx=1), "no option 'ctxx'"),
        (lambda: txcalc.get("gpt3", "flops.total", ctx="long"), "ctx"),
        (lambda: txcalc.function("gpt3", "params.total", "cxt"), "no letter 'cxt'"),
        (lambda: txcalc.function("gpt3", "params.total", "ctx", "ctx"), "'ctx' is given twice"),
        (lambda: txcalc.function("gpt3", "flops.total", "source"), "no encoder beside a decoder"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(0), "--ctx 0: a whole number from"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(10**15 + 1), "--ctx 10+1: a whole"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(2.0), "--ctx 2.0: a whole number"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(True), "--ctx True: a whole number"),
        (txcalc.function("gpt3", "flops.total", "ctx"), "one number each is needed of c"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(1, 2), "one number each is needed"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(1, ctx=2), "one number each"),
        (lambda: txcalc.function("gpt3", "flops.total", "ctx")(batch=2), "one number each"),
        (lambda: txcalc.function("gpt3", "flops.total")(2), "one number each .* of nothing"),
        (lambda: txcalc.kvcache("roberta-base"), "encoder-only"),
        (lambda: txcalc.load(None), "a model is a text, not None"),  # type: ignore[arg-type]
        (lambda: txcalc.params(1), "a model is a text, not 1"),  # type: ignore[arg-type]
        (lambda: txcalc.load("gpt3", "n_layers=4"), "changes are a list"),
        (lambda: txcalc.load("gpt3", [None]), "a change is a text"),  # type: ignore[list-item]
        (lambda: txcalc.get("gpt3", None), "an address is a text"),  # type: ignore[arg-type]
        (lambda: txcalc.function("gpt3", "params.total", 1), "a letter"),  # type: ignore[arg-type]
        (lambda: txcalc.get("gpt3", "params.total", kv="fp9"), "unknown number format 'fp9'"),
        (lambda: txcalc.get("gpt3", "params.total", ctx=0), "--ctx 0: a whole number"),
        (
            lambda: txcalc.get("gpt3", "flops.total", scores="\ud800"),
            "characters that no text can hold",
        ),
        (lambda: txcalc.params("gpt3").zork, "no figure 'params.zork'"),
    ],
)
def test_what_goes_wrong_says_so(act: Any, told: str) -> None:
    with pytest.raises(txcalc.TxcalcError, match=told):
        act()
    with pytest.raises(AttributeError):
        _ = txcalc.params("gpt3").zork
