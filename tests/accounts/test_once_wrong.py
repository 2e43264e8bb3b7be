"""Counts that were wrong once, each with the right one."""

from __future__ import annotations

from math import prod

import pytest

from tests.support.counting import Counted, Run, Tree
from tests.support.describing import layer
from tests.support.running import find, load, report

PLAIN: Tree = {"kind": "plain", "d_ff": 4}
GQA: Tree = {"kind": "gqa", "n_heads": 4, "n_kv_heads": 2, "head_dim": 6}


def all_traffic(tree: Tree, phase: str) -> None:
    """All FLOPs over all bytes, counted twice."""
    counted = Counted(tree).intensity(Run(phase, 9, 9, 2), 2, 2, 2)
    asked = {"ctx": 9, "prompt": 9, "batch": 2, "dtype": "bf16"}
    assert find(load(tree), f"intensity.all.{phase}", **asked) == counted[1]


def test_a_shared_block_without_a_layer_holds_nothing() -> None:
    tree = layer(ffn=PLAIN)
    tree["blocks"]["never"] = {"norm": "none", "ffn": PLAIN, "shared": True}
    tree["layers"]["pattern"] = ["decoder", "never"]
    assert find(load(tree), "params.blocks") == 2 * 8 * 4


def test_an_encoder_passes_on_no_state_of_a_recurrence() -> None:
    tree = layer(ssm={"kind": "short_conv", "d_conv": 3})
    all_traffic(tree | {"encoder": tree.pop("layers")}, "prefill")


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_a_convolution_of_heads_reads_all_heads(phase: str) -> None:
    all_traffic(layer(attention={**GQA, "kind": "cca", "d_conv": 2, "d_head_conv": 3}), phase)


def test_copies_reached_by_one_token_of_each_sequence() -> None:
    pooler = {"use": "matmul", "dims": [8, 8], "copies": 4, "used": 1, "stream": "sequence"}
    tree = layer(ffn=PLAIN, tensors={"pooler": pooler})
    expected, _ = Counted(tree).intensity(Run("prefill", 30), 2, 2, 2)
    assert find(load(tree), "intensity.prefill", ctx=30, prompt=30) == expected


def test_cached_generation_is_the_sum_of_its_steps() -> None:
    pooler = {"use": "matmul", "dims": [8, 8], "stream": "sequence"}
    model = load(layer(ffn=PLAIN, tensors={"pooler": pooler}))
    steps = [find(model, "flops.blocks", phase="decode", ctx=ctx) for ctx in (3, 4)]
    assert find(model, "generation.flops.cached", prompt=3, new=2) == sum(steps)


def test_queries_of_several_experts_have_their_shape() -> None:
    moa = {"kind": "moa", "n_experts": 4, "top_k": 3, "n_kv_heads": 2, "head_dim": 4}
    shapes = report("shapes", load(layer(attention=moa)), batch=1, tokens=5).shapes
    queries = shapes["shapes.block.decoder.attention.q"]
    assert prod(side.value for side in queries) == 5 * 3 * 2 * 4
