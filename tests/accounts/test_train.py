"""Training: FLOPs that torch counts, public conventions and their tables, and laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import yaml

import txcalc
from tests.support.running import DATA, find, get, load, report, run
from tests.support.training import described
from txcalc.errors import OptionError, RefusedError
from txcalc.sources.devices import load_device
from txcalc.workload.training import Recompute

A100, H100 = load_device("a100-80gb"), load_device("h100-sxm")
MEASURED = yaml.safe_load((DATA / "training_flops.yaml").read_text("utf-8"))["rows"]
FOUNDRY = yaml.safe_load((DATA / "foundry.yaml").read_text("utf-8"))["rows"]


def cost(name: str, model: Any, **asked: Any) -> int | Fraction:
    return find(model, f"train.flops.{name}", **asked)


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["id"])
def test_flops_are_those_that_torch_counts(row: dict[str, Any]) -> None:
    """torch.utils.flop_counter.FlopCounterMode, torch 2.14.1."""
    model, c = load(described(row["config"], row["family"])), row["config"]
    asked = {"micro_batch": c["B"], "ctx": c["T"], **row["options"]}
    if "lora" in asked and asked["recompute"] != "none":
        with pytest.raises(RefusedError, match="--lora with --recompute has no known count"):
            cost("step", model, **asked)
        return
    assert cost("forward", model, **asked) == row["forward"]
    assert cost("step", model, **asked) == row["total"]


@pytest.mark.parametrize(
    ("convention", "expected"),
    [
        ("kaplan", 566231040),  # arXiv:2001.08361 eq. 2.2
        ("6n-non-embedding", 510336000),
        ("palm", 859885056),  # arXiv:2204.02311 appendix B: 6N + 12LHQT
        ("nanogpt", 855166464),  # 6(N - T d) + 12LHQT
        ("torchtitan", 859885056),
        ("megatron", 798031872),  # 72 L d^2 + 6 L d T + 6 d V, V padded to 50304
        ("megatron-2021", 1062273024),  # arXiv:2104.04473 eq. 3
        ("foundry", 859885056),
        ("6n", 6 * 124439808),
        ("exact", 854438400),  # 6 (matmul weights with the head) + 12 L d T
    ],
)
def test_conventions_on_gpt2_small(convention: str, expected: int) -> None:
    assert cost("token", txcalc.load("gpt2-small"), ctx=1024, flops_as=convention) == expected


def test_torchtitan_on_llama() -> None:
    """Published with 57,914,449,920 FLOPs a token and 33.74% at 5,762 tokens/s of 989 TFLOP/s."""
    flops = cost("model", txcalc.load("llama-3.1-8b"), ctx=8192, flops_as="torchtitan")
    assert flops == 57_914_449_920
    assert round(float(flops * 5762 / (989 * 10**12)) * 100, 4) == 33.7415


@pytest.mark.parametrize("row", FOUNDRY, ids=lambda row: row["id"])
def test_foundry_publishes_these_utilisations(row: dict[str, Any]) -> None:
    """MPT of its row's layers, width and parameters; H100 is 989.5 TFLOP/s here, there 989."""
    model, devices = load(_mpt(row)), {"h100": H100, "a100": A100}
    assert find(model, "params.total") == row["params"]
    figures = report(
        "train", model, flops_as="foundry", gpus=row["gpus"], device=devices[row["gpu"][:4]],
        throughput=f"{row['tokens_per_s'] / row['gpus']:.6f}", ctx=row["seq"],
        recompute="full" if row["checkpointing"] else "none",
        compute="fp8" if row["precision"] == "amp_fp8" else None,
    ).figures  # fmt: skip
    for name in ("mfu", "hfu"):
        published, percent = row[f"{name}_percent"], float(figures[f"train.{name}"].value) * 100
        assert abs(percent - published) <= 0.006 * published


def _mpt(row: dict[str, Any]) -> dict[str, Any]:
    biased = {"n_heads": 1, "bias": True}
    block = {
        "norm": "layer", "attention": {"kind": "mha", **biased},
        "ffn": {"kind": "plain", "d_ff": 4 * row["d_model"], "bias": True},
    }  # fmt: skip
    return {
        "name": "mpt", "source": "mosaicml/llm-foundry", "d_model": row["d_model"],
        "vocab": 50368, "context": row["seq"], "blocks": {"b": block},
        "layers": {
            "count": row["n_layers"], "pattern": ["b"], "final_norm": "layer",
            "positions": {"kind": "learned", "n_positions": row["seq"]},
        },
        "head": {"tied": True},
    }  # fmt: skip


def test_the_three_that_follow_from_each_other() -> None:
    model, asked = txcalc.load("gpt3-xl"), {"ctx": 2048, "gpus": 8, "device": A100}
    of_speed = report("train", model, train_tokens=26 * 10**9, throughput="14000", **asked)
    assert round(float(of_speed.find("train.mfu").value) * 100, 2) == 40.71
    days = of_speed.find("train.days").value
    assert days == Fraction(26 * 10**9, 14000 * 8 * 86400)
    assert of_speed.find("train.gpu_hours").value == days * 24 * 8
    of_mfu = report("train", model, train_tokens=26 * 10**9, mfu="0.4", **asked)
    assert of_mfu.find("train.mfu").value == Fraction(2, 5)
    tokens = find(model, "train.tokens", days="10", mfu="0.4", **asked)
    assert tokens / 10 == 26 * 10**9 / of_mfu.find("train.days").value
    of_days = report("train", model, train_tokens=26 * 10**9, days="3", **asked)
    assert of_days.find("train.throughput").value == Fraction(26 * 10**9, 3 * 86400 * 8)


def test_days_alone_say_gpu_hours() -> None:
    asked = {"ctx": 2048, "days": "1.5"}
    assert find(txcalc.load("gpt3-xl"), "train.gpu_hours", gpus=3, **asked) == 108
    with pytest.raises(OptionError, match="--days is of so many GPUs"):
        find(txcalc.load("gpt3-xl"), "train.days", **asked)


def test_budgets_are_read_exactly() -> None:
    words = ("--ctx", "2048", "--train-tokens")
    forms = ("26B", "26e9", "26000000000", "26,000,000,000", "0.026T")
    runs = {get("gpt3-xl", "train.flops.run", *words, form) for form in forms}
    assert runs == {26 * 10**9 * get("gpt3-xl", "train.flops.token", "--ctx", "2048")}
    ran = run("train", "gpt3-xl", *words, "26X")
    assert (ran.code, ran.out) == (2, "")
    assert "an amount above 0 is needed, as 26B" in ran.err


@pytest.mark.parametrize("name", ["gpt2-small", "llama-3.1-8b", "mixtral-8x7b", "t5-small"])
def test_laws(name: str) -> None:
    """A step is three passes; groups and micro-batches multiply it; repeats only add."""
    model, asked = txcalc.load(name), {"ctx": 128}
    step = cost("step", model, micro_batch=2, **asked)
    assert step == find(model, "flops.total", phase="train", batch=2, **asked)
    assert cost("step", model, micro_batch=2, microbatches=3, dp=4, **asked) == 12 * step
    again: tuple[Recompute, ...] = ("none", "selective", "block", "full")
    steps = [cost("step", model, micro_batch=2, recompute=each, **asked) for each in again]
    if name != "t5-small":
        assert steps == sorted(steps)
        assert len(set(steps)) >= 3
    run_ = report("train", model, gpus=8, device=H100, throughput="100", attention="flash",
                  recompute="full", **asked)  # fmt: skip
    assert run_.find("train.mfu").value < run_.find("train.hfu").value


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"recompute": "selective", "attention": "flash"}, "it saves nothing"),
        ({"lora": "8", "flops_as": "palm"}, "says nothing of --lora"),
        ({"lora": "8:zork"}, "no projection 'zork'"),
        ({"lora": "x"}, "RANK"),
        ({"mfu": "0.4", "gpus": 8}, "give the --device"),
        ({"mfu": "1.5"}, "at most 1"),
        ({"mfu": "0.4", "throughput": "3", "device": A100}, "give one, the other follows"),
        ({"days": "3", "throughput": "3", "train_tokens": 9}, "give two"),
        ({"gpus": 3, "dp": 2}, "no multiple of --dp 2"),
    ],
)
def test_what_contradicts_itself_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        report("train", txcalc.load("llama-3.1-8b"), ctx=128, **asked)


def test_what_no_count_says_is_refused() -> None:
    with pytest.raises(RefusedError, match="take --recompute full"):
        report("train", txcalc.load("mamba-130m"), ctx=128, recompute="block")
    with pytest.raises(RefusedError, match="without q, k or v"):
        report("train", txcalc.load("llama-3.1-8b"), ctx=128, lora="8:up,down")
    with pytest.raises(RefusedError, match="decoders alone"):
        report("train", txcalc.load("t5-small"), ctx=128, lora="8")
