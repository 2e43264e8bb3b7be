"""Intensity: FLOPs over bytes, both counted apart."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.counting import BYTES, Counted, Run, Tree
from tests.support.describing import changed, descriptions, used_parts
from tests.support.running import find, load, report
from txcalc.errors import RefusedError
from txcalc.exact.quantity import is_estimate

tokens = st.integers(1, 30)
formats = st.sampled_from(sorted(BYTES))
CLOSE = Fraction(1, 10**36)


@settings(max_examples=5 * settings().max_examples)
@given(
    descriptions(), tokens, tokens, tokens, st.integers(1, 4), formats, formats, formats
)  # fmt: skip
def test_intensity_equals_flops_over_bytes_counted_apart(
    tree: Tree, ctx: int, prompt: int, source: int, batch: int, dtype: str, weights: str, kv: str
) -> None:
    counted, model = Counted(tree), load(tree)
    assume(_reads_weights(tree))
    asked = {"source": source} if len(counted.stacks) == 2 else {}
    figures = report(
        "intensity", model, ctx=ctx, prompt=prompt, batch=batch, dtype=dtype, weights=weights,
        kv=kv, **asked,
    ).figures  # fmt: skip
    lengths = {"prefill": prompt, "decode": ctx}
    if "decoder" not in counted.stacks:
        del lengths["decode"]
    assert len(figures) == 2 * len(lengths)
    for phase, length in lengths.items():
        run = Run(phase, length, source, batch)
        expected = counted.intensity(run, BYTES[weights], BYTES[kv], BYTES[dtype])
        for address, value in zip(("intensity", "intensity.all"), expected, strict=True):
            figure = figures[f"{address}.{phase}"]
            assert figure.unit == "FLOPs/byte"
            if is_estimate(figure):
                assert abs(figure.value - value) <= value * CLOSE, address
            else:
                assert figure.value == value, address


def _reads_weights(tree: Tree) -> bool:
    """Whether the smallest pass multiplies at least one weight."""
    phase = "decode" if "layers" in tree else "prefill"
    return Counted(tree).read(Run(phase)) > 0


@given(descriptions(), tokens, st.integers(1, 3), formats)
def test_no_pass_reads_more_than_there_is(tree: Tree, ctx: int, batch: int, weights: str) -> None:
    model = load(tree)
    assume(_reads_weights(tree))
    asked: dict[str, Any] = {"ctx": ctx, "batch": batch}
    held = find(model, "weights.bytes", weights=weights)
    for phase in ("prefill", "decode") if model.has_decoder else ("prefill",):
        work = report("flops", model, phase=phase, mla="expanded", **asked).figures
        runs = [name for stack in Counted(tree).stacks for name in Counted(tree).runs(stack)]
        products = sum(work[f"flops.block.{name}.matmul"].value for name in runs)
        products += sum(work[f"flops.{top}"].value for top in ("embedding", "head", "tensors"))
        per_byte = find(model, f"intensity.{phase}", weights=weights, mla="expanded", **asked)
        assert products <= per_byte * held * (1 + CLOSE)


@given(descriptions("decoder"), tokens, st.integers(1, 5))
def test_a_dense_prefill_has_an_intensity_of_its_prompt(
    tree: Tree, prompt: int, batch: int
) -> None:
    model = load(_dense(tree))
    asked = {"prompt": prompt, "ctx": prompt, "batch": batch}
    in_16_bits = find(model, "intensity.prefill", **asked)
    assert in_16_bits == prompt * batch
    assert find(model, "intensity.decode", **asked) == batch
    assert find(model, "intensity.prefill", weights="int8", **asked) == 2 * in_16_bits


def _dense(tree: Tree) -> Tree:
    """The description with every weight multiplied once for each token."""

    def change(node: Tree) -> None:
        for field in ("tensors", "loops", "loop_state", "shared", "residual"):
            node.pop(field, None)
        if node.get("kind") in ("moe", "moa"):
            experts = node["n_experts"]
            node |= {"top_k": experts}
            node.pop("n_zero", None)
            node.pop("zero_weights", None)

    return used_parts(changed(tree, change))


@given(descriptions("encoder"))
def test_an_encoder_alone_has_no_decode(tree: Tree) -> None:
    assume(_reads_weights(tree))
    model = load(tree)
    for address in ("intensity.decode", "intensity.all.decode"):
        with pytest.raises(RefusedError, match=f"{address}: no decode: an encoder-only model"):
            find(model, address, ctx=3)
