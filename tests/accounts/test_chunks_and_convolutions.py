"""Attention within chunks, of experts, and beside convolutions; gates of heads and experts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.counting import Tree
from tests.support.running import find, load
from txcalc.errors import DescriptionError

CHUNK = 7
CONTEXTS = (1, 6, 7, 8, 13, 14, 15, 40)
GQA: Tree = {"kind": "gqa", "n_heads": 4, "n_kv_heads": 2, "head_dim": 6}
PER_PAIR = 2 * 4 * (6 + 6)


def described(attention: Tree, **fields: Any) -> Tree:
    """Three layers of 20 channels."""
    block: Tree = {
        "norm": "rms", "attention": attention, "ffn": {"kind": "glu", "d_ff": 40}, **fields
    }  # fmt: skip
    return {
        "name": "made-up",
        "source": "made up",
        "d_model": 20,
        "vocab": 50,
        "context": 64,
        "blocks": {"decoder": block},
        "layers": {"count": 3, "pattern": ["decoder"], "final_norm": "rms"},
        "head": {"tied": True},
    }


def scores(tree: Tree, **asked: Any) -> object:
    return find(load(tree), "flops.block.decoder.scores", **asked)


@pytest.mark.parametrize("ctx", CONTEXTS)
def test_a_causal_query_meets_the_keys_before_it_in_its_chunk(ctx: int) -> None:
    tree = described({**GQA, "chunk": CHUNK})
    met = [i % CHUNK + 1 for i in range(ctx)]
    asked: dict[str, Any] = {"scores": "causal", "ctx": ctx}
    assert scores(tree, phase="prefill", batch=2, **asked) == 2 * PER_PAIR * sum(met)
    assert scores(tree, phase="decode", **asked) == PER_PAIR * met[-1]
    assert scores(tree, phase="token", **asked) * ctx == PER_PAIR * sum(met)


@pytest.mark.parametrize("ctx", CONTEXTS)
@pytest.mark.parametrize("convention", ["full", "square", "none"])
@pytest.mark.parametrize("phase", ["prefill", "decode", "token"])
def test_else_a_chunk_counts_as_a_window(ctx: int, convention: str, phase: str) -> None:
    chunk, window = (described({**GQA, name: CHUNK}) for name in ("chunk", "window"))
    asked = {"ctx": ctx, "scores": convention, "phase": phase}
    assert scores(chunk, **asked) == scores(window, **asked)


@pytest.mark.parametrize("ctx", CONTEXTS)
def test_the_cache_holds_one_chunk(ctx: int) -> None:
    tree = described({**GQA, "chunk": CHUNK})
    kept = 3 * 2 * (2 * 6) * min(ctx, CHUNK)
    assert find(load(tree), "kvcache.sequence", ctx=ctx, dtype="bf16") == 2 * kept


def test_window_and_chunk_exclude_each_other() -> None:
    with pytest.raises(DescriptionError, match="window and chunk are both stated"):
        load(described({**GQA, "window": 5, "chunk": 7}))


def test_a_gate_for_each_head() -> None:
    plain, gated = described(GQA), described({**GQA, "gated": "head"})
    more = find(load(gated), "params.total") - find(load(plain), "params.total")
    assert more == 3 * 20 * 4


def test_a_gate_has_a_bias_of_its_own_name() -> None:
    four = {**GQA, "gated": True, "bias": ["q", "k", "v", "o"]}
    without, all_ = described(four), described({**four, "bias": True})
    more = find(load(all_), "params.total") - find(load(without), "params.total")
    assert more == 3 * 4 * 6


def test_attention_of_experts() -> None:
    moa = {"kind": "moa", "n_experts": 5, "top_k": 2, "n_kv_heads": 2, "head_dim": 6, "bias": True}
    model = load(described(moa))
    whole = 20 * 5 + 2 * 5 * 20 * 12 + 2 * 20 * 12 + 20
    assert find(model, "params.block.decoder.attention") == whole
    unused = find(model, "params.total") - find(model, "params.active")
    assert unused == 3 * 3 * 2 * 20 * 12
    assert find(model, "flops.block.decoder.scores", ctx=9) == 2 * 2 * 2 * (6 + 6) * 9
    assert find(model, "kvcache.token", dtype="bf16") == 2 * 3 * 2 * 2 * 6


def test_attention_of_no_more_experts_than_there_are() -> None:
    moa = {"kind": "moa", "n_experts": 2, "top_k": 3, "n_kv_heads": 2, "head_dim": 6}
    with pytest.raises(DescriptionError, match="top_k 3 is above n_experts 2"):
        load(described(moa))


def test_convolutions_of_queries_and_keys() -> None:
    plain = load(described(GQA))
    model = load(described({**GQA, "kind": "cca", "d_conv": 2, "d_head_conv": 3}))
    channels = (4 + 2) * 6
    more = channels * 2 + channels + 6 * 3 * channels + channels + 2
    assert find(model, "params.total") - find(plain, "params.total") == 3 * more
    asked = {"ctx": 9, "phase": "decode"}
    work = [find(m, "flops.block.decoder", **asked) for m in (plain, model)]
    assert work[1] - work[0] == 2 * (channels * 2 + 6 * 3 * channels)
    assert find(model, "kvcache.fixed", dtype="bf16") == 2 * 3 * (channels * (1 + 2) + 2 * 6 // 2)


def test_values_of_two_halves() -> None:
    odd = {**GQA, "kind": "cca", "n_kv_heads": 1, "head_dim": 5, "d_conv": 2, "d_head_conv": 2}
    with pytest.raises(DescriptionError, match="values have two halves"):
        load(described(odd))


@pytest.mark.parametrize(("fmt", "size"), [(None, 2), ("fp32", 4)])
def test_a_convolution_declared_as_a_tensor(fmt: str | None, size: int) -> None:
    conv: Tree = {"use": "conv", "dims": ["d_model", 4], "copies": 2}
    model = load(described(GQA, tensors={"conv": conv | ({"fmt": fmt} if fmt else {})}))
    plain = load(described(GQA))
    assert find(model, "params.total") - find(plain, "params.total") == 3 * 2 * 20 * 4
    more = [find(m, "flops.block.decoder", ctx=9) for m in (model, plain)]
    assert more[0] - more[1] == 2 * 2 * 20 * 4
    assert find(model, "kvcache.fixed", dtype="bf16") == size * 3 * 2 * 20 * 4


def test_experts_without_a_router_and_with_gates_for_each_shared_one() -> None:
    moe: Tree = {
        "kind": "moe", "n_experts": 4, "top_k": 1, "d_expert": 8, "n_shared": 2, "shared_gate": True
    }  # fmt: skip
    ffn = "params.block.decoder.ffn"
    whole = find(load(described(GQA, ffn=moe)), ffn)
    assert whole - find(load(described(GQA, ffn=moe | {"router": False})), ffn) == 4 * 20
    each = find(load(described(GQA, ffn=moe | {"shared_gate": "each"})), ffn)
    assert each - whole == 20
