"""Memory of GPUs: what they hold together is the model, and what each holds is published."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests.support.running import BUNDLED, data, find, named, refusal_of, report, run
from txcalc.errors import RefusedError

LAYOUTS: list[dict[str, Any]] = [
    {"tp": 2}, {"tp": 4}, {"tp": 8}, {"pp": 2}, {"dp": 2}, {"dp": 2, "ep": True},
    {"tp": 2, "ep": True}, {"tp": 2, "pp": 2, "dp": 2}, {"tp": 2, "engine": "vllm"},
    {"pp": 2, "engine": "llamacpp"},
]  # fmt: skip
DECODERS = [name for name in BUNDLED if named(name).has_decoder]
NOT_DIVIDED = ("n_heads", "n_kv_heads", "no rule", "no routed experts")
"""Why a model refuses a layout."""

Question = dict[str, Any]


named = cache(named)


def memory(name: str, **question: Any) -> dict[str, int | Fraction]:
    figures = report("memory", named(name), **{"dtype": "bf16", "ctx": 4096} | question).figures
    return {
        address.removeprefix("memory."): quantity.value for address, quantity in figures.items()
    }


@cache
def divided(name: str) -> list[tuple[Question, dict[str, int | Fraction]]]:
    """The layouts that a model can have, and what its GPUs hold in each."""
    each = []
    for layout in LAYOUTS:
        for mtp in {False, named(name).mtp is not None}:
            question = {**layout, "mtp": mtp}
            why = refusal_of(lambda question=question: memory(name, **question))
            assert not why or any(word in why for word in NOT_DIVIDED), why
            if not why:
                each.append((question, memory(name, **question)))
    return each


@pytest.mark.parametrize("name", DECODERS)
def test_all_gpus_hold_the_model_and_what_is_repeated_and_padded(name: str) -> None:
    for question, held in divided(name):
        stored = find(named(name), "weights.bytes", dtype="bf16", mtp=question["mtp"])
        if question.get("engine") == "llamacpp" and not _is_tied(name):
            stored -= find(named(name), "weights.embedding", dtype="bf16") - _beside(name)
        here = held["total.weights"] + held["total.mtp"]
        assert here - held["total.repeated"] - held["total.padding"] == stored, question
        assert held["total.repeated"] >= 0
        assert held["total.padding"] >= 0


def _is_tied(name: str) -> bool:
    head = named(name).head
    return head is not None and head.tied


def _beside(name: str) -> int:
    """Bytes of the tables that are not the tokens'."""
    beside = (row for row in named(name).rows if row.component == "embedding")
    return sum(2 * int(row.declared.each.value) for row in beside if row.name != "tokens")  # type: ignore[union-attr]


@pytest.mark.parametrize("name", DECODERS)
def test_the_parts_of_a_gpu_add_up(name: str) -> None:
    for question, held in divided(name):
        for at in ("gpu", "total"):
            loaded = held[f"{at}.weights"] + held[f"{at}.tables"] + held[f"{at}.mtp"]
            assert held[f"{at}.loaded"] == loaded, question
            kept = held[f"{at}.cache"] + held[f"{at}.fixed"]
            assert held[f"{at}.total"] == loaded + kept, question


@pytest.mark.parametrize("name", DECODERS)
def test_stages_and_groups_conserve_caches(name: str) -> None:
    whole = memory(name, batch=3)
    for layout in ({"pp": 2}, {"dp": 2}, {"dp": 4}):
        held = memory(name, batch=3, **layout)
        for part in ("cache", "fixed"):
            assert held[f"total.{part}"] == whole[f"total.{part}"], layout


@pytest.mark.parametrize("tp", [2, 4, 8])
def test_a_cache_is_conserved_where_kv_heads_divide(tp: int) -> None:
    whole = memory("llama-3.1-70b")["total.cache"]
    held = memory("llama-3.1-70b", tp=tp)
    assert (held["total.cache"], held["gpu.cache"]) == (whole, whole / tp)


@pytest.mark.parametrize("name", ["llama-3.1-70b", "gemma-2-9b", "qwen3-235b-a22b"])
def test_a_longer_context_never_needs_less(name: str) -> None:
    for engine in ("none", "vllm", "sglang", "llamacpp"):
        sizes = [memory(name, ctx=ctx, engine=engine)["gpu.cache"] for ctx in range(1, 9000, 523)]
        assert sizes == sorted(sizes)


@pytest.mark.parametrize(("tp", "stored"), [(8, 40960), (16, 40960)])
def test_eight_kv_heads_repeat_beyond_eight_gpus(tp: int, stored: int) -> None:
    # 2 x 80 layers x 1 head x 128 channels x 2 bytes.
    assert memory("llama-3.1-70b", tp=tp, ctx=1)["gpu.cache"] == stored


@pytest.mark.parametrize("tp", [1, 2, 4, 8, 16])
def test_a_latent_is_whole_on_each_gpu(tp: int) -> None:
    # arXiv:2412.19437: 61 layers x (512 + 64) channels; github.com/LMCache/LMCache/pull/694.
    assert memory("deepseek-v3", tp=tp, ctx=1)["gpu.cache"] == 70272


def test_a_tied_table_stands_on_both_ends_of_a_pipeline() -> None:
    # arXiv:2408.00118: a vocabulary of 256,000 and a width of 3,584.
    assert memory("gemma-2-9b", pp=2)["total.repeated"] == 917_504_000 * 2


def test_an_answer_says_what_is_divided_and_what_is_left_out() -> None:
    shown = run("memory", "mixtral-8x7b", "--tp", 2, "--dp", 2, "--ep").out
    rows = {row[0]: row[-1] for line in shown.splitlines() if len(row := cells(line)) == 4}
    assert rows["attention"] == "n_heads, n_kv_heads"
    assert rows["experts"] == "n_experts"
    assert rows["router"] == rows["norms"] == "whole on each GPU"
    assert rows["cache, 1 x 32,768 tokens"] == "n_kv_heads, batch"
    assert rows["embedding"] == rows["head"] == "vocab"
    assert shown.startswith("mixtral-8x7b: memory of each of 4 GPUs (tp 2, dp 2, whole experts)")
    assert "not in it: CUDA context, graphs, workspaces" in shown


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("   ") if cell.strip()]


def test_the_listed_parts_of_all_stages_are_the_total() -> None:
    (report,) = data("memory", "deepseek-v3", "--pp", 2, "--ctx", 1024)
    held = {row["address"]: row["value"] for row in report["rows"]}
    roles = [name for name in held if name.startswith("memory.total.weights.")]
    assert sum(held[name] for name in roles) == held["memory.total.weights"]
    assert "embedding" in run("memory", "deepseek-v3", "--pp", 2, "--ctx", 1024).out


def test_stages_that_are_listed() -> None:
    held = memory("deepseek-v2-lite", pp=2, stages="14,13", ctx=1)
    # github.com/vllm-project/vllm/pull/20665: 14 layers of a latent of 512 + 64.
    assert held["stages.0.cache"] == 14 * 576 * 2
    assert held["stages.1.cache"] == 13 * 576 * 2


def test_heads_that_do_not_divide() -> None:
    ran = run("memory", "phi-4", "--tp", 4)
    assert ran.code == 2
    assert "n_kv_heads 10 cannot be divided by 4 GPUs: 1, 2, 5, 10" in ran.err


def test_stages_of_a_mix_have_its_layers_in_their_formats() -> None:
    # llama.cpp's src/llama-quant.cpp: Q4_K_M raises half of ffn.down to q6_k, and not evenly.
    asked = {"dtype": "bf16", "weights": "Q4_K_M"}
    whole = find(named("llama-3.1-8b"), "weights.bytes", **asked)
    for pp in (2, 3, 5):
        held = memory("llama-3.1-8b", pp=pp, weights="Q4_K_M")
        assert held["total.weights"] - held["total.repeated"] == whole
    assert held["stages.0.weights"] != held["stages.1.weights"]
    first = memory("llama-3.1-8b", pp=2, stages="1,31", weights="Q4_K_M")["stages.0.weights.ffn"]
    assert first == 4096 * 14336 * (2 * 144 + 210) // 256


def test_a_module_keeps_a_cache_on_the_last_stage() -> None:
    # arXiv:2412.19437 section 2.2: a module is a layer, with a latent of 512 + 64 channels.
    alone, beside = (memory("deepseek-v3", pp=2, mtp=mtp, ctx=1) for mtp in (False, True))
    assert beside["stages.0.cache"] == alone["stages.0.cache"]
    assert beside["stages.1.cache"] - alone["stages.1.cache"] == 576 * 2


def test_all_gpus_run_a_step() -> None:
    held = memory("llama-3.1-8b", tp=2, pp=2, batch=3, step_tokens=7)
    # arXiv:2407.21783 table 3: 14,336 channels of the FFN, a vocabulary of 128,256.
    assert held["total.step.widest"] == 2 * 2 * 7 * 14336 // 2 * 2
    assert held["total.step.logits"] == 3 * 128256 * 2
    assert held["total.step"] == sum(held[f"stages.{i}.step"] * 2 for i in range(2))


def test_a_part_without_a_rule_is_refused_by_name() -> None:
    with pytest.raises(RefusedError, match=r"deepseek-v4-flash: .*'compressed' has no rule"):
        memory("deepseek-v4-flash", tp=2)
    assert memory("deepseek-v4-flash", pp=2)["total.repeated"] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tp": 4, "dcp": 3}, "--dcp 3 divides a group of --tp 4: take a divisor"),
        ({"stages": "16,16"}, "2 stages, but --pp 1"),
        ({"pp": 2, "stages": "16,15"}, "31 layers; the model has 32"),
        ({"pp": 33}, "the model has 32 layers"),
        ({"pp": 2, "stages": "16+16"}, "as 14,13"),
        ({"tp": 0}, "--tp 0: a whole number from 1"),
        ({"block_size": 0}, "--block-size 0: a whole number from 1"),
        ({"mtp": True}, "no multi-token-prediction modules"),
        ({"tp": 4, "dcp": 4}, "--dcp 4"),
        ({"ep": True, "tp": 2}, "no routed experts"),
    ],
)
def test_contradictory_options(options: dict[str, Any], said: str) -> None:
    assert said in refusal_of(lambda: memory("llama-3.1-8b", **options))


def test_experts_that_cannot_be_shared_out_whole() -> None:
    why = refusal_of(lambda: memory("mixtral-8x7b", dp=3, ep=True))
    assert "8 experts" in why
    assert why.endswith("tp x dp of 1, 2, 4, 8 would do")


def test_windows_that_an_engine_does_not_divide_by_tokens() -> None:
    # vLLM v1 kv_cache_interface.py: SlidingWindowSpec asserts decode_context_parallel_size == 1.
    asked: dict[str, Any] = {"tp": 16, "dcp": 2, "ctx": 4096}
    whole = memory("gemma-2-9b", tp=16, ctx=4096)["gpu.cache"]
    assert memory("gemma-2-9b", **asked)["gpu.cache"] == whole / 2
    why = refusal_of(lambda: memory("gemma-2-9b", **asked, engine="vllm"))
    assert "vllm does not divide the windows of gemma-2-9b" in why
