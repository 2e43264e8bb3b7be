"""FLOPs: the second count, query by query, and laws between phases."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.counting import ROLES, Counted, Run, Tree
from tests.support.describing import descriptions, each_token, unbounded
from tests.support.running import find, load, report

PHASES = ("token", "prefill", "decode", "train")
SCORES = ("full", "causal", "square", "none")
FORMS = ("expanded", "absorbed", "reexpand")
tokens = st.integers(1, 30)


@settings(max_examples=5 * settings().max_examples)
@given(
    descriptions(), st.sampled_from(PHASES), st.sampled_from(SCORES), tokens, tokens,
    st.integers(1, 4), st.sampled_from(("all", "last")), st.sampled_from((None, *FORMS)),
)  # fmt: skip
def test_every_sum_equals_a_plain_count(
    tree: Tree,
    phase: str,
    scores: str,
    ctx: int,
    source: int,
    batch: int,
    logits: str,
    mla: str | None,
) -> None:
    counted = Counted(tree)
    if "decoder" not in counted.stacks and phase in ("token", "decode"):
        phase = "prefill"
    run = Run(phase, ctx, source, batch, scores, logits, mla)
    asked = {"source": source} if len(counted.stacks) == 2 else {}
    figures = report(
        "flops", load(tree), phase=phase, scores=scores, ctx=ctx, batch=batch, logits=logits,
        mla=mla, **asked,
    ).figures  # fmt: skip
    for address, expected in counted.work(run).items():
        assert figures[address].value == expected, address


@given(
    descriptions("decoder"), st.integers(1, 20), st.integers(1, 3), st.sampled_from(FORMS[:2])
)  # fmt: skip
def test_causal_prefill_is_the_sum_of_its_decode_steps(
    tree: Tree, ctx: int, batch: int, form: str
) -> None:
    model = load(each_token(tree))
    asked: dict[str, Any] = {"scores": "causal", "batch": batch, "mla": form}
    steps = [find(model, "flops.total", phase="decode", ctx=t, **asked) for t in range(1, ctx + 1)]
    assert find(model, "flops.total", phase="prefill", ctx=ctx, **asked) == sum(steps)


@given(descriptions("decoder"), st.sampled_from(SCORES), tokens)
def test_prefill_is_the_mean_token_times_ctx(tree: Tree, scores: str, ctx: int) -> None:
    model = load(each_token(tree))
    token = find(model, "flops.blocks", phase="token", scores=scores, ctx=ctx)
    assert find(model, "flops.blocks", phase="prefill", scores=scores, ctx=ctx) == ctx * token


@given(descriptions("decoder", "both"), tokens, st.integers(1, 3))
def test_square_is_never_below_full_nor_full_below_causal(tree: Tree, ctx: int, batch: int) -> None:
    model = load(tree)
    costs = [
        find(model, "flops.total", phase="prefill", scores=scores, ctx=ctx, batch=batch)
        for scores in ("none", "causal", "full", "square")
    ]
    assert costs == sorted(costs)


@given(descriptions(), st.sampled_from(("prefill", "train", "decode")), tokens, st.integers(1, 9))
def test_batch_multiplies(tree: Tree, phase: str, ctx: int, batch: int) -> None:
    model = load(tree)
    if not model.has_decoder and phase == "decode":
        phase = "prefill"
    one = report("flops", model, phase=phase, ctx=ctx).figures
    many = report("flops", model, phase=phase, ctx=ctx, batch=batch).figures
    assert {a: q.value for a, q in many.items()} == {a: batch * q.value for a, q in one.items()}


@given(descriptions("decoder", "both"), tokens, st.integers(2, 9))
def test_a_token_ignores_the_batch(tree: Tree, ctx: int, batch: int) -> None:
    model = load(tree)
    alone = find(model, "flops.total", ctx=ctx)
    assert find(model, "flops.total", ctx=ctx, batch=batch) == alone


@given(descriptions(), st.sampled_from(SCORES), tokens)
def test_macs_are_half_of_flops_and_training_is_three_forwards(
    tree: Tree, scores: str, ctx: int
) -> None:
    model = load(tree)
    asked: dict[str, Any] = {"scores": scores, "ctx": ctx}
    forward = report("flops", model, phase="prefill", **asked).figures
    macs = report("flops", model, phase="prefill", macs=True, **asked).figures
    train = report("flops", model, phase="train", **asked).figures
    for address, flops in forward.items():
        assert 2 * macs[address].value == flops.value
        assert (macs[address].unit, flops.unit) == ("MACs", "FLOPs")
        assert train[address].value == 3 * flops.value


@given(descriptions("decoder", "both"), st.sampled_from(PHASES), st.sampled_from(SCORES), tokens)
def test_a_window_never_costs_more(tree: Tree, phase: str, scores: str, ctx: int) -> None:
    windowed, whole = load(tree), load(unbounded(tree))
    asked: dict[str, Any] = {"phase": phase, "scores": scores, "ctx": ctx}
    assert find(windowed, "flops.total", **asked) <= find(whole, "flops.total", **asked)
    assert find(windowed, "kvcache.sequence", ctx=ctx) <= find(whole, "kvcache.sequence", ctx=ctx)


@given(descriptions(), st.sampled_from(("prefill", "train")), tokens)
def test_tying_changes_no_flops(tree: Tree, phase: str, ctx: int) -> None:
    costs = {
        find(load(tree | {"head": {"tied": tied}}), "flops.total", phase=phase, ctx=ctx)
        for tied in (True, False)
    }
    assert len(costs) == 1


@given(descriptions(), tokens)
def test_parts_sum_to_totals(tree: Tree, ctx: int) -> None:
    figures = report("flops", load(tree), phase="prefill", ctx=ctx).figures
    value = {address: quantity.value for address, quantity in figures.items()}
    for name, block in tree["blocks"].items():
        at = f"flops.block.{name}"
        parts = (*ROLES, "residual", "tensors")
        assert value[at] == sum(value.get(f"{at}.{part}", 0) for part in parts)
        assert value[f"{at}.attention"] == value[f"{at}.projections"] + value[f"{at}.scores"]
        for part in ROLES:
            rows = [v for a, v in value.items() if a.startswith(f"{at}.{part}.")]
            assert value[f"{at}.{part}"] == sum(rows)
            assert bool(rows) == bool(block.get(part))
    layers = [name for stack in Counted(tree).stacks for name in Counted(tree).runs(stack)]
    assert value["flops.blocks"] == sum(value[f"flops.block.{name}"] for name in layers)
    tops = ("embedding", "blocks", "head", "tensors")
    assert value["flops.total"] == sum(value[f"flops.{top}"] for top in tops)


@pytest.mark.parametrize("phase", ["token", "decode"])
@given(descriptions("encoder"))
def test_an_encoder_alone_has_no_steps(phase: str, tree: Tree) -> None:
    from txcalc.errors import RefusedError

    with pytest.raises(RefusedError, match=f"no phase '{phase}'.*--phase prefill"):
        report("flops", load(tree), phase=phase, ctx=4)
