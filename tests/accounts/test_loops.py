"""Layers that a pass runs several times, heads of a part of the vocabulary."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.counting import Tree
from tests.support.running import find, load

CTX = 32
PHASES = ("token", "prefill", "decode", "train")


def described(middle: int, **fields: Any) -> Tree:
    """A stack of two plain layers around some that have further fields."""
    block: Tree = {
        "norm": "rms",
        "attention": {"kind": "gqa", "n_heads": 4, "n_kv_heads": 2},
        "ffn": {"kind": "glu", "d_ff": 40},
    }
    return {
        "name": "looped",
        "source": "made up",
        "d_model": 24,
        "vocab": 50,
        "context": CTX,
        "blocks": {"outer": block, "inner": block | fields},
        "layers": {
            "count": middle + 2, "first": ["outer"], "pattern": ["inner"], "last": ["outer"],
            "final_norm": "rms",
        },
        "head": {"tied": False},
    }  # fmt: skip


@pytest.mark.parametrize("phase", PHASES)
def test_loops_cost_what_as_many_layers_cost(phase: str) -> None:
    looped, unrolled = load(described(4, loops=3)), load(described(12))
    asked = {"phase": phase, "ctx": CTX}
    assert find(looped, "flops.total", **asked) == find(unrolled, "flops.total", **asked)


def test_loops_store_one_set_of_weights() -> None:
    looped, once = load(described(4, loops=3)), load(described(4))
    for figure in ("params.total", "params.active", "weights.bytes"):
        assert find(looped, figure) == find(once, figure)


@pytest.mark.parametrize("fields", [{"loops": 3}, {"shared": True}, {"loops": 3, "shared": True}])
def test_weights_of_loops_and_of_shared_layers_are_read_once(fields: Tree) -> None:
    """A pass of n tokens does 2 n FLOPs for a weight it reads, in each of its runs."""
    model = load(described(4, **fields))
    runs, sets = 4 * fields.get("loops", 1), 1 if "shared" in fields else 4
    each = find(model, "params.block.inner.matmul")
    outside = 2 * find(model, "params.block.outer.matmul") + 24 * 50
    asked = {"prompt": CTX, "ctx": CTX, "dtype": "int8"}
    products, read = 2 * CTX * (runs * each + outside), sets * each + outside
    assert find(model, "intensity.prefill", **asked) * read == products
    assert find(model, "intensity.decode", **asked) * read * CTX == products
    assert find(model, "params.blocks") == sets * find(model, "params.block.inner") + 2 * find(
        model, "params.block.outer"
    )


@pytest.mark.parametrize(("state", "layers"), [("each", 12), ("last", 4)])
def test_each_loop_or_the_last_keeps_state(state: str, layers: int) -> None:
    looped, same = load(described(4, loops=3, loop_state=state)), load(described(layers))
    for figure in ("kvcache.token", "kvcache.sequence"):
        assert find(looped, figure, ctx=CTX) == find(same, figure, ctx=CTX)


def test_a_head_of_a_part_of_the_vocabulary() -> None:
    tree = described(1)
    part = tree | {"head": {"tied": False, "n_outputs": 20}}
    assert find(load(tree), "params.total") - find(load(part), "params.total") == 30 * 24
    assert find(load(part), "flops.head", ctx=CTX) == 2 * 20 * 24


def test_output_norms_are_counted_as_post_norms_are() -> None:
    output, post = (load(described(1, placement=p)) for p in ("output", "post"))
    assert find(output, "params.total") == find(post, "params.total")
