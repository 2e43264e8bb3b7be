"""From which context on scores and caches dominate: by hand, and against flops and caches."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.support.running import answer, find, get, named, refusal_of

named = cache(named)


@pytest.mark.parametrize(
    ("name", "ffn", "weights"),
    [("gpt2-small", 4 * 768, 6 * 768), ("llama-3.1-8b", 21_504, 26_624)],
)
def test_contexts_by_hand(name: str, ffn: int, weights: int) -> None:
    # gpt2-small: 4 x d_model x ctx against 16 x d_model^2, and against 24 x d_model^2.
    # llama-3.1-8b: 4 x 4,096 x ctx against 6 x 4,096 x 14,336, and more by
    # 4 x 4,096 x (4,096 + 1,024).
    assert get(name, "regimes.scores_reach_ffn") == ffn
    assert get(name, "regimes.scores_reach_weights") == weights


def test_a_causal_mask_leaves_half_of_the_pairs() -> None:
    # (ctx + 1) / 2 keys on average: 2 x 3,072 - 1.
    assert get("gpt2-small", "regimes.scores_reach_ffn", "--scores", "causal") == 6143


def test_a_window_is_never_enough() -> None:
    # mistral-7b: a window of 4,096 keys, where 21,504 would be needed.
    said = refusal_of(lambda: find(named("mistral-7b"), "regimes.scores_reach_ffn"))
    assert "never: scores tend to 19.0% of the FFN's" in said
    assert f"{4096 / 21504:.1%}" == "19.0%"
    assert "never (1)" in answer("regimes", "mistral-7b", "gpt2-small")


def test_the_seeds_regimes() -> None:
    # For S well under d_model the FFN dominates, near it they compete, well over it scores do.
    model = named("gpt2-small")

    def part(ctx: int) -> Any:
        asked = {"ctx": ctx, "phase": "prefill"}
        return find(model, "flops.block.scores / flops.block.ffn", **asked)

    assert part(768 // 8) < 0.1
    assert 0.1 < part(768) < 1
    assert part(8 * 768) == 2


@pytest.mark.parametrize("name", ["llama-3.1-8b", "deepseek-v3", "gemma-2-9b", "bart-base"])
@pytest.mark.parametrize("options", [{}, {"phase": "prefill"}, {"scores": "causal", "batch": 9}])
def test_on_either_side_of_a_context(name: str, options: dict[str, Any]) -> None:
    model = named(name)
    text = refusal_of(lambda: find(model, "regimes.caches_reach_weights", **options))
    if not text:
        ctx = int(find(model, "regimes.caches_reach_weights", **options))
        held = find(model, "weights.bytes")
        batch = {"batch": options.get("batch", 1)}
        assert find(model, "kvcache.total", ctx=ctx, **batch) >= held
        assert find(model, "kvcache.total", ctx=ctx - 1, **batch) < held
    else:
        assert "never: it tends to" in text
    if name == "llama-3.1-8b":
        ctx = int(find(model, "regimes.scores_reach_weights", **options))
        asked = {"phase": "token", **options}
        both = "n(flops.block.scores) + n(flops.block.scores) - n(flops.block)"
        assert find(model, both, ctx=ctx, **asked) >= 0
        assert find(model, both, ctx=ctx - 1, **asked) < 0


def test_what_there_is_not() -> None:
    assert "no block has an FFN" in refusal_of(
        lambda: find(named("mamba-130m"), "regimes.scores_reach_ffn")
    )
    assert "an encoder-only model" in refusal_of(
        lambda: find(named("roberta-base"), "regimes.cache_reaches_weights", phase="prefill")
    )
    several = refusal_of(
        lambda: find(named("llama-4-maverick"), "regimes.scores_reach_ffn", scores="causal")
    )
    assert "several: the visible pairs of a chunk rise and fall" in several
