"""``txcalc prove``: its answer, its exit codes, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.describing import layer
from tests.support.running import answer, run, save
from txcalc.model.parts import attention, ffn, mamba
from txcalc.model.parts.base import Slot
from txcalc.model.rows import Weight


def test_the_verdict_stands_first_and_both_numbers_beside_each_other() -> None:
    """The toy's 329,600 parameters: 1000 x 64 + 64 x 64 + 4 blocks of 49,984 + 2 x 64."""
    lines = answer("prove", "toy").splitlines()
    assert lines[0].startswith("toy: ")
    assert lines[0].endswith(" equalities, all hold")
    [total] = [line.split() for line in lines if line.split()[:1] == ["params.total"]]
    assert total == ["params.total", "329,600", "329,600"]


def test_a_large_model_is_scaled_and_the_answer_says_how() -> None:
    (proof,) = json.loads(answer("prove", "mistral-7b", "--format", "json"))
    scaled = {change["name"]: (change["described"], change["run"]) for change in proof["scaled"]}
    assert scaled["d_model"][0] == 4096 > scaled["d_model"][1]
    described, ran = zip(scaled["n_heads"], scaled["n_kv_heads"], strict=True)
    assert described[0] / described[1] == ran[0] / ran[1] == 4
    assert proof["holds"] is True
    assert all(equality["holds"] for equality in proof["equalities"])
    assert {"about", "address", "run", "account", "within", "holds"} == set(proof["equalities"][0])


def test_changes_are_made_before_the_run() -> None:
    (proof,) = json.loads(answer("prove", "toy", "--set", "n_layers=2", "--format", "json"))
    [total] = [e for e in proof["equalities"] if e["address"] == "params.total"]
    assert total["run"] == 329_600 - 2 * 49_984


def test_a_fault_of_an_account_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention.MultiHead, "operations", lambda self, slot: [])
    ran = run("prove", "toy")
    assert ran.code == 1
    first = ran.out.splitlines()[0]
    assert first.startswith("toy: ")
    assert first.endswith(" do not hold")
    assert "fails" in ran.out


def test_a_row_of_another_shape_ends_with_1_and_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrower(self: ffn.Plain, slot: Slot) -> list[Weight]:
        return ffn._network(slot.d_model, slot.d_model, gated=False, bias=self.bias)

    monkeypatch.setattr(ffn.Plain, "weights", narrower)
    ran = run("prove", "toy")
    assert (ran.code, ran.out) == (1, "")
    assert "block.decoder.ffn.up does not run: (64, 256) is needed, (64, 64) is stored" in ran.err


def test_a_row_that_nothing_uses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    made = mamba.Mamba1.weights
    extra = Weight(name="more", use="bias", outputs=())
    monkeypatch.setattr(mamba.Mamba1, "weights", lambda self, slot: [*made(self, slot), extra])
    ran = run("prove", "mamba-130m")
    assert ran.code == 1
    assert "ssm.more is used" in ran.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("deepseek-v4-flash",), "kind 'compressed' has no run yet"),
        (("toy", "--ctx", "1"), "--ctx 1: a run has from 2 to 64 tokens"),
        (("toy", "--ctx", "8Ki"), "--ctx 8192: a run has from 2 to 64 tokens"),
        (("toy", "--set", "n_positions=4", "--ctx", "9"), "beyond the 4 learned positions"),
        (("no-such-model",), "no-such-model"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(words: tuple[str, ...], said: str) -> None:
    ran = run("prove", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_model_too_large_even_when_it_is_scaled_is_refused() -> None:
    wide = layer(d_model=32, ffn={"kind": "plain", "d_ff": 10**8})
    ran = run("prove", save(wide))
    assert ran.code == 2
    assert "parameters, of which at most 100,000,000 are run" in ran.err


def test_without_numpy_the_answer_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("txcalc.reference")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    ran = run("prove", "toy")
    assert (ran.code, ran.out) == (2, "")
    assert "install txcalc with its extra 'proof'" in ran.err


def test_the_core_does_not_import_numpy() -> None:
    loaded = "import sys, txcalc; txcalc.params('toy'); print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
