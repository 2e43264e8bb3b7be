"""Pools of engines: groups of layers, windows beside layers that keep all tokens."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.support.describing import layer
from tests.support.running import find, load, named
from txcalc.model.model import Model

GIB = 2**30
PAGE = 2 * 2 * 8 * 2
"""Bytes of a token in a layer of 2 KV heads of 8 channels."""


def mixed(full: int, windows: int, window: int = 32) -> Model:
    """Layers that keep all tokens, then layers with windows, alike else."""
    gqa = {"kind": "gqa", "n_heads": 4, "n_kv_heads": 2, "head_dim": 8}
    tree = layer(attention=gqa)
    tree["blocks"]["window"] = {"norm": "none", "attention": {**gqa, "window": window}}
    tree["layers"] = {"count": full + windows, "first": ["decoder"] * full, "pattern": ["window"]}
    return load(tree)


def fit(model: Model, what: str, **question: Any) -> int | Fraction:
    asked: dict[str, Any] = {"dtype": "bf16", "ctx": 100, "kv_memory": "1", **question}
    return find(model, f"fit.engine.{what}", **asked)


@pytest.mark.parametrize(
    ("full", "windows", "size", "groups"),
    [
        # vLLM v1 kv_cache_utils.py, _get_kv_cache_groups_uniform_page_size: 10 full and 20 window
        # layers are three groups of 10; 12 and 13 are two of 13, and 10 and 15 are padded.
        (10, 20, 10, 3), (13, 12, 13, 2), (10, 15, 10, 3), (10, 14, 14, 2), (10, 52, 10, 7),
    ],
)  # fmt: skip
def test_groups_of_layers_share_one_pool(full: int, windows: int, size: int, groups: int) -> None:
    model = mixed(full, windows)
    blocks = GIB // (size * PAGE * 16)
    assert fit(model, "blocks", engine="vllm") == blocks
    assert fit(model, "tokens", engine="vllm") == blocks // groups * 16
    # 100 tokens are 7 blocks of 16; a window of 32 with 20 tokens of a step holds 51, in 4 and 1.
    full_groups, others = -(-full // size), -(-windows // size)
    each = full_groups * 7 + others * 5
    held = fit(model, "sequences", engine="vllm", max_batched_tokens=20)
    assert held == (blocks - 1) // each


def test_layers_with_smaller_pages_have_more_tokens_in_one() -> None:
    # unify_kv_cache_spec_page_size: a page of half the bytes a token holds twice the tokens.
    gqa = {"kind": "gqa", "n_heads": 4, "n_kv_heads": 2, "head_dim": 8}
    tree = layer(attention=gqa)
    narrow = {**gqa, "n_kv_heads": 1, "window": 1000}
    tree["blocks"]["window"] = {"norm": "none", "attention": narrow}
    tree["layers"] = {"count": 4, "pattern": ["decoder", "window"]}
    blocks = GIB // (2 * PAGE * 16)
    assert fit(load(tree), "blocks", engine="vllm") == blocks
    assert fit(load(tree), "sequences", engine="vllm") == (blocks - 1) // (7 + 4 + 1)


def test_layers_that_all_keep_all_tokens_are_one_group() -> None:
    # UniformTypeKVCacheSpecs: each layer's tensor is as large as its own pages.
    gqa = {"kind": "gqa", "n_heads": 4, "n_kv_heads": 2, "head_dim": 8}
    tree = layer(attention=gqa)
    tree["blocks"]["narrow"] = {"norm": "none", "attention": {**gqa, "n_kv_heads": 1}}
    tree["layers"] = {"count": 4, "pattern": ["decoder", "narrow", "narrow", "narrow"]}
    assert fit(load(tree), "blocks", engine="vllm") == GIB // (16 * PAGE * 5 // 2)


@pytest.mark.parametrize(("full", "windows"), [(10, 20), (18, 18), (1, 3)])
def test_windows_have_a_pool_of_their_own(full: int, windows: int) -> None:
    # SGLang's set_num_tokens_hybrid_swa: swa = 0.8 full, and both fill the memory.
    model = mixed(full, windows, window=8)
    pages = GIB // (16 * PAGE * (full + Fraction(4, 5) * windows))
    assert fit(model, "tokens", engine="sglang") == 16 * pages
    # 100 tokens are 7 pages of 16; a window of 8 with 20 tokens of a step holds 27, in 2 and 1.
    held = fit(model, "sequences", engine="sglang", max_batched_tokens=20)
    assert held == min(pages // 7, pages * 4 // 5 // 3)
    # One whose windows are as long as it is short of window pages first.
    assert fit(model, "sequences", engine="sglang") == min(pages // 7, pages * 4 // 5 // 8)


def test_tokens_of_windows_are_divided_once() -> None:
    # 4 GPUs hold the same 2 heads twice: 100 tokens are 50 on each, 51 of a window are 26.
    model = mixed(10, 10)
    alone, divided = (
        fit(model, "sequences", engine="sglang", tp=4, dcp=dcp, max_batched_tokens=20)
        for dcp in (1, 2)
    )
    pages = GIB // (16 * PAGE // 2 * (10 + Fraction(4, 5) * 10))
    assert alone == min(pages // 7, pages * 4 // 5 // 5)
    assert divided == min(pages // 4, pages * 4 // 5 // 3)


def test_real_windows_in_groups() -> None:
    # arXiv:2503.19786 table 1 and its config: 52 windows of 1,024 and 10 others, 16 heads of 128.
    asked: dict[str, Any] = {"dtype": "bf16", "ctx": 32768, "kv_memory": "10", "engine": "vllm"}
    blocks = 10 * GIB // (10 * 8192 * 16)
    windows = -(-(1023 + 8192) // 16) + 1
    held = find(named("gemma-3-27b-text"), "fit.engine.sequences", **asked)
    assert held == (blocks - 1) // (2048 + 6 * windows)
