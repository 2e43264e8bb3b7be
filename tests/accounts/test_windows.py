"""Windows of an encoder: as many keys on either side, so an even window has one key fewer."""

from __future__ import annotations

import pytest

from tests.support.counting import Tree
from tests.support.running import find, load

LENGTH = 9
PER_PAIR = 2 * 2 * (4 + 4)
"""FLOPs of one query and key: two heads of 4 channels, keys and values."""


def described(window: int) -> Tree:
    """An encoder of one layer."""
    attention = {"kind": "mha", "n_heads": 2, "window": window}
    return {
        "name": "windowed",
        "source": "made up",
        "d_model": 8,
        "vocab": 10,
        "blocks": {"encoder": {"norm": "rms", "attention": attention}},
        "encoder": {"count": 1, "pattern": ["encoder"]},
    }


@pytest.mark.parametrize(
    ("window", "pairs"),
    [
        (1, 9),
        (2, 9),
        (3, 2 + 3 * 7 + 2),
        (4, 2 + 3 * 7 + 2),
        (5, 3 + 4 + 5 * 5 + 4 + 3),
        (6, 3 + 4 + 5 * 5 + 4 + 3),
        (16, 8 + 9 * 7 + 8),
        (17, 9 * 9),
        (18, 9 * 9),
        (40, 9 * 9),
    ],
)
def test_a_query_has_half_the_window_on_either_side(window: int, pairs: int) -> None:
    """Of nine queries, with (window - 1) // 2 keys before and after each, itself between them."""
    asked = {"phase": "prefill", "ctx": LENGTH, "batch": 2, "scores": "causal"}
    scores = find(load(described(window)), "flops.block.encoder.scores", **asked)
    assert scores == 2 * PER_PAIR * pairs


@pytest.mark.parametrize(("window", "keys"), [(1, 1), (6, 6), (8, 8), (9, 9), (10, 9)])
def test_full_scores_take_the_whole_window(window: int, keys: int) -> None:
    asked = {"phase": "prefill", "ctx": LENGTH}
    scores = find(load(described(window)), "flops.block.encoder.scores", **asked)
    assert scores == PER_PAIR * LENGTH * keys
