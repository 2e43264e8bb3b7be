"""Engines' rules of allocation, against what public reports print."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.running import find, named, refusal_of
from txcalc.exact.quantity import Letter
from txcalc.workload.engine import Engine, EngineName, engine
from txcalc.workload.reach import ALL, Kept, Window

GIB = 2**30


def made(name: EngineName, *, block: int = 16, batched: int = 64, ubatch: int = 512) -> Engine:
    return engine(name, block=block, batched=batched, ubatch=ubatch)


@pytest.mark.parametrize(
    ("name", "reach", "tokens", "held"),
    [
        ("none", ALL, 17, 17),
        ("none", Window(Letter(128, "window")), 1000, 128),
        ("vllm", ALL, 17, 32),
        ("vllm", ALL, 16, 16),
        # min(1000, 128 - 1 + 64) = 191 tokens are 12 blocks, and one where a window starts inside.
        ("vllm", Window(Letter(128, "window")), 1000, 13 * 16),
        # github.com/ggml-org/llama.cpp/pull/17609: 768 cells of a window of 128, ubatch 512.
        ("llamacpp", Window(Letter(128, "window")), 32768, 768),
        ("llamacpp", Window(Letter(128, "window")), 200, 256),
        ("llamacpp", ALL, 2049, 2304),
    ],
)
def test_tokens_that_an_engine_holds(name: EngineName, reach: Kept, tokens: int, held: int) -> None:
    assert made(name).kept(reach, Letter(tokens, "ctx")).value == held


@pytest.mark.parametrize(
    ("model", "token", "gib", "tokens"),
    [
        # github.com/alvarobartt/hf-mem/issues/60: 73,728 bytes where windows were taken as 36,864.
        ("gpt-oss-120b", 73728, "9", 131072),
        # github.com/alvarobartt/hf-mem/pull/70: 32 requests of 8,192 tokens have 12 GiB of pages.
        ("gpt-oss-20b", 49152, "12", 32 * 8192),
    ],
)
def test_layers_with_windows_have_whole_pages(
    model: str, token: int, gib: str, tokens: int
) -> None:
    asked: dict[str, Any] = {"dtype": "bf16", "engine": "vllm", "kv_memory": gib}
    assert find(named(model), "fit.engine.tokens", **asked) == tokens
    assert tokens * token == int(gib) * GIB


def test_blocks_are_filled_by_the_tokens_of_a_gpu() -> None:
    # 100 tokens are 50 for each of two GPUs, in 4 blocks of 16: 61 layers x 576 x 2 bytes each.
    asked: dict[str, Any] = {"dtype": "bf16", "engine": "vllm", "ctx": 100, "tp": 2, "dcp": 2}
    assert find(named("deepseek-v3"), "memory.gpu.cache", **asked) == 4 * 16 * 70272


def test_a_cache_is_divided_by_tokens_where_gpus_hold_the_same_heads() -> None:
    model = named("llama-3.1-70b")  # 8 KV heads
    asked: dict[str, Any] = {"ctx": 1024, "dtype": "bf16"}
    whole = find(model, "memory.total.cache", **asked)
    assert find(model, "memory.total.cache", tp=16, dcp=2, **asked) == whole
    why = refusal_of(lambda: find(model, "memory.total.cache", tp=16, dcp=4, **asked))
    assert "--dcp 4: 2 of --tp 16 GPUs hold the same keys" in why


@pytest.mark.parametrize("size", ["block", "batched", "ubatch"])
def test_sizes_are_positive(size: str) -> None:
    assert "0: a whole number from 1 on is needed" in refusal_of(lambda: made("vllm", **{size: 0}))
