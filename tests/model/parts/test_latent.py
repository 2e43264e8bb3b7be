"""Attention over latents and over compressed entries, and the indexers that pick among them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.support.counting import Tree
from tests.support.describing import layer
from tests.support.running import find, load

V3: Tree = {"kind": "mla", "n_heads": 128, "q_rank": 1536, "kv_rank": 512, "nope_dim": 128,
            "rope_dim": 64, "v_dim": 128}  # fmt: skip
INDEX: Tree = {"index_heads": 64, "index_dim": 128, "index_top_k": 2048}
SMALL: Tree = {"kind": "mla", "n_heads": 3, "q_rank": 5, "kv_rank": 7, "nope_dim": 4,
               "rope_dim": 2, "v_dim": 6}  # fmt: skip
ENTRIES: Tree = {"kind": "compressed", "n_heads": 4, "head_dim": 6, "q_rank": 5, "o_groups": 2,
                 "o_rank": 3, "window": 8}  # fmt: skip


def parameters(attention: Tree) -> int:
    return int(find(load(layer(20, attention=attention)), "params.blocks"))


def test_a_layer_of_deepseek_v3() -> None:
    """arXiv:2412.19437: 61 x 187.1M; 70.272 kB a token, arXiv:2505.09343 table 1."""
    tree = layer(7168, attention=V3)
    assert find(load(tree), "params.blocks") == 187_107_328
    tree["layers"]["count"] = 61
    assert find(load(tree), "kvcache.token", dtype="bf16") == 70_272


def test_the_indexer_of_deepseek_v3_2() -> None:
    """Its checkpoint's wq_b, wk, k_norm and weights_proj."""
    with_, without = (load(layer(7168, attention=V3 | i)) for i in ({"indexer": INDEX}, {}))
    shapes = 8192 * 1536 + 128 * 7168 + 2 * 128 + 64 * 7168
    assert find(with_, "params.blocks") - find(without, "params.blocks") == shapes
    more = find(with_, "kvcache.token", dtype="int8") - find(without, "kvcache.token", dtype="int8")
    assert more == 128


@pytest.mark.parametrize(
    ("change", "more"),
    [
        ({"o_bias": True}, 20),
        ({"bias": True}, 5 + 9 + 20),
        ({"rope_norm": True}, 2),
        ({"sinks": True}, 3),
        ({"gate": "head"}, 20 * 3),
        ({"gate": "channel"}, 20 * 3 * 6),
        ({"gate": "query"}, 10 * 3 * 12 - 5 * 3 * 6),
    ],
)
def test_what_a_field_adds_to_the_parameters(change: Tree, more: int) -> None:
    assert parameters(SMALL | change) - parameters(SMALL) == more


@pytest.mark.parametrize("ctx", [3, 4, 5, 30])
def test_a_step_expands_the_latents_of_its_window_again(ctx: int) -> None:
    model = load(layer(20, attention=SMALL | {"window": 4}))
    work = {
        form: find(model, "flops.block", phase="decode", ctx=ctx, mla=form)
        for form in ("expanded", "absorbed", "reexpand")
    }
    seen, up = min(ctx, 4), 2 * 7 * 3 * (4 + 6)
    assert work["reexpand"] - work["expanded"] == up * (seen - 1)
    assert work["absorbed"] - work["expanded"] == 2 * 3 * ((9 + 7) - (6 + 6)) * seen


@pytest.mark.parametrize("pick", [{"shared_top_k": 4}, {"window": 4}])
def test_a_query_attends_to_what_is_left_to_it(pick: Tree) -> None:
    model = load(layer(20, attention=SMALL | pick))
    for ctx in (3, 4, 5, 30):
        assert find(model, "flops.block.scores", ctx=ctx) == 2 * 3 * (6 + 6) * min(ctx, 4)
    kept = 4 if "window" in pick else 30
    assert find(model, "kvcache.sequence", ctx=30, dtype="int8") == 9 * kept


def test_an_indexer_of_pooled_keys() -> None:
    """One key and its gate a token, scored once a pool; an open pool's tokens are all left."""
    index = {"index_heads": 2, "index_dim": 4, "index_top_k": 6, "pool": 3}
    plain, pooled = ({k: v for k, v in index.items() if k != "pool"}, index)
    more = parameters(SMALL | {"indexer": pooled}) - parameters(SMALL | {"indexer": plain})
    assert more == 20 * 4 + 3 * 4
    model = load(layer(20, attention=SMALL | {"indexer": index}))
    for ctx in (2, 3, 7, 30):
        scores = 2 * 2 * (4 + 1) * (ctx // 3) + 2 * 3 * (6 + 6) * min(ctx, 6 + 3 - 1)
        assert find(model, "flops.block.scores", ctx=ctx) == scores
        kept = 9 * ctx + 4 * (ctx // 3) + 2 * 4 * (ctx % 3)
        assert find(model, "kvcache.sequence", ctx=ctx, dtype="int8") == kept
    assert find(model, "kvcache.token", ctx=7, dtype="int8") == 9 + Fraction(4, 3)


def test_entries_and_what_they_are_made_of() -> None:
    queries, key = 20 * 5 + 5 + 5 * 24, 20 * 6 + 6
    output = 2 * 12 * 3 + 2 * 3 * 20 + 4
    assert parameters(ENTRIES) == queries + key + output
    entries = 2 * 20 * 6 + 4 * 6 + 6
    assert parameters(ENTRIES | {"block": 4}) - parameters(ENTRIES) == entries
    overlapping = 2 * 20 * 12 + 4 * 12 + 6
    assert parameters(ENTRIES | {"block": 4, "overlap": True}) - parameters(ENTRIES) == overlapping


def test_what_a_token_writes_is_its_share_of_an_entry() -> None:
    index = {"index_heads": 2, "index_dim": 3, "index_top_k": 2}
    model = load(layer(20, attention=ENTRIES | {"block": 4, "overlap": True, "indexer": index}))
    asked = {"dtype": "int8"}
    share = Fraction(6 + 3, 4)
    assert find(model, "kvcache.token", ctx=30, **asked) == 6 + share
    assert find(model, "kvcache.growth", ctx=7, **asked) == 6 + share
    assert find(model, "kvcache.growth", ctx=8, **asked) == share
    assert find(model, "kvcache.fixed", ctx=30, **asked) == 4 * (6 + 3) * (1 + 4)
    for ctx in (3, 8, 30):
        open_ = ctx % 4 * 2 * 2 * (6 + 3)
        own = 6 * min(ctx, 8) + (6 + 3) * (ctx // 4) + open_
        fixed = find(model, "kvcache.fixed", ctx=ctx, **asked)
        assert find(model, "kvcache.sequence", ctx=ctx, **asked) == own + fixed


def test_a_window_beside_entries_is_kept_once() -> None:
    alone, beside = (load(layer(20, attention=ENTRIES | b)) for b in ({}, {"block": 4}))
    assert find(alone, "kvcache.sequence", ctx=3, dtype="int8") == 2 * 6 * 3
    assert find(beside, "kvcache.sequence", ctx=4, dtype="int8") == 6 * 4 + 6


@pytest.mark.parametrize("top_k", [None, 2])
def test_a_query_attends_to_its_window_and_to_complete_entries(top_k: int | None) -> None:
    index = {"index_heads": 2, "index_dim": 3, "index_top_k": top_k}
    tree = ENTRIES | {"block": 4} | ({"indexer": index} if top_k else {})
    model = load(layer(20, attention=tree))
    for ctx in (3, 4, 11, 12, 30):
        complete = ctx // 4
        left = complete if top_k is None else min(complete, top_k)
        scores = 2 * 4 * 12 * (min(ctx, 8) + left) + (2 * 2 * 3 * complete if top_k else 0)
        assert find(model, "flops.block.scores", ctx=ctx, phase="decode") == scores
