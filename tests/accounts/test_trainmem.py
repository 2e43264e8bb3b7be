"""What training keeps: tensors that PyTorch keeps, laws, and what was not measured."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import txcalc
from tests.support.running import DATA, find, load, report
from tests.support.training import described
from txcalc.errors import OptionError, RefusedError

MEASURED = yaml.safe_load((DATA / "training_activations.yaml").read_text("utf-8"))["rows"]
TOTAL = "trainmem.activations.total"


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["id"])
def test_activations_are_those_that_autograd_keeps(row: dict[str, Any]) -> None:
    """torch 2.14.1, saved_tensors_hooks, distinct storages."""
    c = row["config"]
    asked = {"micro_batch": c["B"], "ctx": c["T"], **row["options"]}
    figures = report("trainmem", load(described(c, row["family"])), **asked).figures
    assert figures[TOTAL].value == row["total"]
    if "per_layer" in row:
        assert figures["trainmem.activations.block.b"].value == row["per_layer"]


@pytest.mark.parametrize("name", ["gpt2-small", "llama-3.1-8b", "gpt3"])
def test_recomputation_only_saves(name: str) -> None:
    model = txcalc.load(name)
    kept = [
        find(model, TOTAL, ctx=512, recompute=each)
        for each in ("none", "selective", "block", "full")
    ]
    assert kept[0] > kept[1] > kept[2] == kept[3]
    assert find(model, TOTAL, ctx=512, attention="flash") < kept[0]


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_megatron_counts_a_layer_so(recompute: str) -> None:
    """arXiv:2205.05198, table 2: s b h (34 + 5 a s/h), s b h 34 and 2 s b h; its 22B model."""
    a, h, s, b = 64, 6144, 2048, 4
    tree = described(
        {"heads": a, "kv": a, "hd": h // a, "d": h, "ff": 4 * h, "V": 512, "T": s, "L": 1}, "gpt"
    )
    block = find(
        load(tree), "trainmem.activations.block", ctx=s, micro_batch=b, recompute=recompute,
        dropout="0.1", inventory="megatron",
    )  # fmt: skip
    scores = 5 * a * s * s * b if recompute == "none" else 0
    assert block == s * b * h * (2 if recompute == "full" else 34) + scores


def test_activations_grow_with_the_micro_batch() -> None:
    """All but what is kept once: two bytes of the loss's weight, 24 of flash's generator."""
    model, asked = txcalc.load("llama-3.1-8b"), {"ctx": 512, "attention": "flash"}
    once = 2 + 32 * 24
    one, three = (find(model, TOTAL, micro_batch=n, **asked) - once for n in (1, 3))
    assert three == 3 * one


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("deepseek-v2-lite", {}, "kind 'mla' keeps"),
        ("t5-small", {}, "decoders with a head"),
        ("mamba-130m", {}, "rotary or learned positions"),
        ("gemma-2-9b", {}, "arrangement of block"),
        ("llama-3.1-8b", {"dropout": "0.1"}, "--dropout is measured"),
        ("gpt2-small", {"norms": "upcast"}, "about RMSNorm alone"),
        ("llama-3.1-8b", {"norms": "upcast", "recipe": "fp32"}, "measured with --recipe bf16"),
    ],
)
def test_what_was_not_measured_is_refused(name: str, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(RefusedError, match=said):
        report("trainmem", txcalc.load(name), ctx=128, **asked)


def test_options_that_contradict_each_other() -> None:
    with pytest.raises(OptionError, match="saves nothing"):
        report("trainmem", txcalc.load("gpt2-small"), attention="flash", recompute="selective")
    with pytest.raises(OptionError, match="below 1"):
        report("trainmem", txcalc.load("gpt2-small"), dropout="1")


def test_a_plain_network_is_warned_of_the_activation_function_that_is_taken() -> None:
    """OPT has ReLU (arXiv:2205.01068, section 2.1), which its description cannot say."""
    [warning] = report("trainmem", txcalc.load("opt-66b"), ctx=128).warnings
    assert "a description states no activation function: with ReLU" in warning
    assert report("trainmem", txcalc.load("llama-3.1-8b"), ctx=128).warnings == []
