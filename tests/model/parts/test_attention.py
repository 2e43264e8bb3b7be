"""Attention: published layers, what a query attends to, experts of it, and convolutions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.counting import Tree
from tests.support.describing import beside_encoder, layer
from tests.support.running import find, load
from txcalc.errors import DescriptionError

CHUNK = 7
CONTEXTS = (1, 6, 7, 8, 13, 14, 15, 40)
GQA: Tree = {"kind": "gqa", "n_heads": 4, "n_kv_heads": 2, "head_dim": 6}
PER_PAIR = 2 * 4 * (6 + 6)


def described(attention: Tree) -> Tree:
    """One layer of 20 channels."""
    return layer(20, attention=attention)


def scores(tree: Tree, **asked: Any) -> object:
    return find(load(tree), "flops.block.decoder.scores", **asked)


def parameters(attention: Tree) -> int:
    return int(find(load(described(attention)), "params.blocks"))


LLAMA: Tree = {"kind": "gqa", "n_kv_heads": 8, "head_dim": 128}


@pytest.mark.parametrize(
    ("d_model", "attention", "count"),
    [
        (768, {"kind": "mha", "n_heads": 12, "bias": True}, 2_362_368),  # GPT-2 small
        (4096, LLAMA | {"n_heads": 32}, 41_943_040),  # Llama 3 8B, Mistral 7B
        (896, {"kind": "gqa", "n_heads": 14, "n_kv_heads": 2, "bias": ["q", "k", "v"]},
         1_836_160),  # Qwen2.5 0.5B
    ],
)  # fmt: skip
def test_parameters_of_a_published_layer(d_model: int, attention: Tree, count: int) -> None:
    assert find(load(layer(d_model, attention=attention)), "params.block.attention") == count


@pytest.mark.parametrize(
    ("layers", "heads", "size"), [(80, 64, 327_680), (126, 128, 516_096)]
)  # fmt: skip
def test_the_cache_of_a_token_as_published(layers: int, heads: int, size: int) -> None:
    """Qwen2.5 72B and Llama 3.1 405B in BF16, arXiv:2505.09343 table 1."""
    tree = layer(128 * heads, attention=LLAMA | {"n_heads": heads})
    tree["layers"]["count"] = layers
    assert find(load(tree), "kvcache.token", dtype="bf16") == size


def test_a_window_keeps_an_eighth_of_a_long_text() -> None:
    """Mistral 7B at 32k tokens, arXiv:2310.06825 section 2."""
    mistral = LLAMA | {"n_heads": 32}
    windowed, whole = (
        find(load(layer(4096, attention=mistral | window)), "kvcache.sequence", ctx=32768)
        for window in ({"window": 4096}, {})
    )
    assert 8 * windowed == whole


@pytest.mark.parametrize(
    ("change", "more"),
    [
        ({"bias": ["q", "o"]}, 24 + 20),
        ({"qk_norm": "head"}, 2 * 6),
        ({"qk_norm": "width"}, 24 + 12),
        ({"qk_norm": "head", "qk_norm_kind": "layer"}, 4 * 6),
        ({"v_dim": 9}, 20 * 2 * 3 + 4 * 3 * 20),
        ({"gated": True}, 20 * 24),
        ({"gated": "head"}, 20 * 4),
        ({"sinks": True}, 4),
        ({"k_is_v": True}, -20 * 12),
        ({"shares_kv": True}, -2 * 20 * 12),
        ({"shares_kv": True, "qk_norm": "head"}, 6 - 2 * 20 * 12),
        ({"differential": True}, 4 * 6),
        ({"d_in": 30}, 10 * (24 + 12 + 12)),
        ({"indexer": {"index_heads": 3, "index_dim": 5, "index_block": 4, "index_top_k": 2}},
         20 * 15 + 20 * 5 + 2 * 5),
    ],
)  # fmt: skip
def test_what_a_field_adds_to_the_parameters(change: Tree, more: int) -> None:
    assert parameters(GQA | change) - parameters(GQA) == more


def test_keys_and_values_of_another_layer_are_not_kept_again() -> None:
    assert find(load(described(GQA | {"shares_kv": True})), "kvcache.sequence", ctx=9) == 0
    one_projection = load(described(GQA | {"k_is_v": True}))
    assert find(one_projection, "kvcache.token", dtype="int8") == 2 * 2 * 6


def test_an_indexer_scores_all_keys_and_leaves_some_blocks() -> None:
    index = {"index_heads": 3, "index_dim": 5, "index_block": 4, "index_top_k": 2}
    model = load(described(GQA | {"indexer": index}))
    for ctx in (7, 8, 9, 60):
        picked = 2 * 3 * 5 * ctx + PER_PAIR * min(ctx, 8)
        assert find(model, "flops.block.scores", phase="decode", ctx=ctx) == picked
    assert find(model, "kvcache.token", dtype="int8") == 2 * 12 + 5


def test_a_cache_of_a_window_may_keep_less() -> None:
    model = load(described(GQA | {"window": 8, "kept": 7}))
    assert find(model, "kvcache.sequence", ctx=30, dtype="int8") == 24 * 7
    assert find(model, "flops.block.scores", ctx=30) == PER_PAIR * 8


def test_differential_heads_attend_to_the_values_of_two() -> None:
    """arXiv:2410.05258 section 2.1."""
    plain, differential = (load(described(GQA | {"differential": on})) for on in (False, True))
    assert scores(described(GQA), ctx=32) == 2 * 4 * (6 + 6) * 32
    assert find(differential, "flops.block.scores", ctx=32) == 2 * 4 * (6 + 12) * 32
    assert find(plain, "kvcache.token") == find(differential, "kvcache.token")


@pytest.mark.parametrize("ctx", CONTEXTS)
def test_a_causal_query_attends_to_the_keys_before_it_in_its_chunk(ctx: int) -> None:
    tree = described({**GQA, "chunk": CHUNK})
    keys = [i % CHUNK + 1 for i in range(ctx)]
    asked: dict[str, Any] = {"scores": "causal", "ctx": ctx}
    assert scores(tree, phase="prefill", batch=2, **asked) == 2 * PER_PAIR * sum(keys)
    assert scores(tree, phase="decode", **asked) == PER_PAIR * keys[-1]
    assert scores(tree, phase="token", **asked) * ctx == PER_PAIR * sum(keys)


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
    kept = 2 * (2 * 6) * min(ctx, CHUNK)
    assert find(load(tree), "kvcache.sequence", ctx=ctx, dtype="bf16") == 2 * kept


@pytest.mark.parametrize("window", [1, 2, 5, 6, 40])
@pytest.mark.parametrize("length", [1, 5, 6, 20])
def test_a_query_of_an_encoder_attends_to_both_sides(window: int, length: int) -> None:
    """Of an even window one key is on neither side: both have (window - 1) // 2 of them."""
    tree = described(GQA | {"window": window})
    tree |= {"encoder": tree.pop("layers")}
    side = (window - 1) // 2
    pairs = sum(abs(i - j) <= side for i in range(length) for j in range(length))
    asked: dict[str, Any] = {"phase": "prefill", "ctx": length}
    assert scores(tree, scores="causal", **asked) == PER_PAIR * pairs
    assert scores(tree, scores="full", **asked) == PER_PAIR * length * min(length, window)


def test_merged_queries_attend_to_both_streams_by_the_same_weights() -> None:
    """T5Gemma 2, arXiv:2512.14856 section 2."""
    decoder = described(GQA | {"merged": True})
    model = load(beside_encoder(decoder, 20, ffn={"kind": "plain", "d_ff": 3}))
    asked: dict[str, Any] = {"ctx": 9, "source": 5}
    at = "flops.block.decoder.attention"
    assert find(model, f"{at}.k", phase="prefill", **asked) == 2 * 20 * 12 * (9 + 5)
    assert find(model, f"{at}.k", phase="decode", **asked) == 2 * 20 * 12
    assert find(model, "flops.block.decoder.scores", **asked) == PER_PAIR * (9 + 5)
    assert find(model, "kvcache.cross", dtype="int8", **asked) == 2 * 12 * 5


def test_window_and_chunk_exclude_each_other() -> None:
    with pytest.raises(DescriptionError, match="window and chunk are both stated"):
        load(described({**GQA, "window": 5, "chunk": 7}))


def test_a_gate_has_a_bias_of_its_own_name() -> None:
    four = {**GQA, "gated": True, "bias": ["q", "k", "v", "o"]}
    without, all_ = described(four), described({**four, "bias": True})
    more = find(load(all_), "params.total") - find(load(without), "params.total")
    assert more == 4 * 6


def test_attention_of_experts() -> None:
    moa = {"kind": "moa", "n_experts": 5, "top_k": 2, "n_kv_heads": 2, "head_dim": 6, "bias": True}
    model = load(described(moa))
    whole = 20 * 5 + 2 * 5 * 20 * 12 + 2 * 20 * 12 + 20
    assert find(model, "params.block.attention") == whole
    unused = find(model, "params.total") - find(model, "params.active")
    assert unused == 3 * 2 * 20 * 12
    assert find(model, "flops.block.scores", ctx=9) == 2 * 2 * 2 * (6 + 6) * 9
    assert find(model, "kvcache.token", dtype="bf16") == 2 * 2 * 2 * 6


def test_jetmoe_8b_as_published() -> None:
    """Experts of attention and of the FFN, arXiv:2404.07413: the checkpoint's elements."""
    moa = {"kind": "moa", "n_experts": 8, "top_k": 2, "n_kv_heads": 16, "head_dim": 128}
    moe = {"kind": "moe", "n_experts": 8, "top_k": 2, "d_expert": 5632}
    sum_bias = {"ffn_bias": {"use": "bias", "dims": ["d_model"]}}
    block: Tree = {"norm": "rms", "attention": moa | {"bias": True}, "ffn": moe}
    tree = layer(2048, **block, tensors=sum_bias) | {"vocab": 32000, "head": {"tied": True}}
    tree["layers"] |= {"count": 24, "final_norm": "rms"}
    assert find(load(tree), "params.total") == 8_522_237_952


def test_attention_of_no_more_experts_than_there_are() -> None:
    moa = {"kind": "moa", "n_experts": 2, "top_k": 3, "n_kv_heads": 2, "head_dim": 6}
    with pytest.raises(DescriptionError, match="top_k 3 is above n_experts 2"):
        load(described(moa))


def test_convolutions_of_queries_and_keys() -> None:
    """arXiv:2510.04476 section 3."""
    plain = load(described(GQA))
    model = load(described({**GQA, "kind": "cca", "d_conv": 2, "d_head_conv": 3}))
    channels = (4 + 2) * 6
    more = channels * 2 + channels + 6 * 3 * channels + channels + 2
    assert find(model, "params.total") - find(plain, "params.total") == more
    asked = {"ctx": 9, "phase": "decode"}
    work = [find(m, "flops.block", **asked) for m in (plain, model)]
    assert work[1] - work[0] == 2 * (channels * 2 + 6 * 3 * channels)
    assert find(model, "kvcache.fixed", dtype="bf16") == 2 * (channels * (1 + 2) + 2 * 6 // 2)


def test_values_of_two_halves() -> None:
    odd = {**GQA, "kind": "cca", "n_kv_heads": 1, "head_dim": 5, "d_conv": 2, "d_head_conv": 2}
    with pytest.raises(DescriptionError, match="values have two halves"):
        load(described(odd))
