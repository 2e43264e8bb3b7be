"""Parameters: the second count, and laws of sums."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.counting import Counted, Tree
from tests.support.describing import alone, descriptions
from tests.support.running import MODELS, data, find, load, report


@settings(max_examples=5 * settings().max_examples)
@given(descriptions())
def test_every_sum_equals_a_plain_count(tree: Tree) -> None:
    model = load(tree)
    figures = report("params", model).figures
    for address, expected in Counted(tree).parameters().items():
        assert figures[address].value == expected, address


@given(descriptions())
def test_parts_sum_to_totals(tree: Tree) -> None:
    figures = report("params", load(tree)).figures
    below: dict[str, list[str]] = {}
    for address in figures:
        below.setdefault(address.rpartition(".")[0], []).append(address)
    for parent, children in below.items():
        if parent in figures and parent != "params.block":
            rows = [c for c in children if c.rpartition(".")[2] not in ("matmul", "biases")]
            assert figures[parent].value == sum(figures[row].value for row in rows), parent
    tops = ("embedding", "blocks", "final_norm", "head", "tensors")
    assert figures["params.total"].value == sum(figures[f"params.{top}"].value for top in tops)


@given(descriptions())
def test_a_token_uses_no_more_than_there_is(tree: Tree) -> None:
    figures = report("params", load(tree)).figures
    assert 0 <= figures["params.active"].value <= figures["params.total"].value


@given(descriptions())
def test_blocks_are_each_block_times_its_layers(tree: Tree) -> None:
    model, counted = load(tree), Counted(tree)
    layers = [name for stack in counted.stacks for name in counted.stored(stack)]
    each = {name: find(model, f"params.block.{name}") for name in tree["blocks"]}
    assert find(model, "params.blocks") == sum(each[name] for name in layers)


@given(descriptions("decoder", "encoder"), st.integers(2, 10**6))
def test_a_repeated_layer_multiplies(tree: Tree, times: int) -> None:
    for block in tree["blocks"].values():
        block.pop("shared", None)
    once, often = (load(alone(tree, count)) for count in (1, times))
    phase = "decode" if once.has_decoder else "prefill"
    for address in ("params.blocks", "flops.blocks"):
        one = find(once, address, ctx=5, phase=phase)
        assert find(often, address, ctx=5, phase=phase) == times * one
    if once.has_decoder:
        for part in ("token", "growth", "sequence"):
            one = find(once, f"kvcache.{part}", ctx=5)
            assert find(often, f"kvcache.{part}", ctx=5) == times * one


@pytest.mark.parametrize("name", MODELS)
def test_tensors_hold_the_total(name: str) -> None:
    (tensors,) = data("params", name, "--tensors")
    held = sum(prod(row["dims"]) * row["copies"] for row in tensors["rows"] if row["count"])
    (params,) = data("params", name)
    total = next(row["value"] for row in params["rows"] if row["address"] == "params.total")
    assert held == total


@given(descriptions())
def test_generated_tensors_hold_the_total(tree: Tree) -> None:
    answer = report("params", load(tree))
    held = 0
    for row in answer.tensors.values():
        if row.weight.tied or row.weight.use == "buffer":
            continue
        size = prod(side.value for side in (*row.weight.outputs, *row.weight.inputs))
        held += row.layers.value * row.weight.copies.value * size
    assert held == answer.figures["params.total"].value
