"""Intensity: FLOPs over bytes, both counted apart."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.counting import BYTES, Counted, Tree
from tests.support.describing import descriptions, used_parts
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
        expected = counted.intensity(
            phase, length, source, batch, BYTES[weights], BYTES[kv], BYTES[dtype]
        )
        for address, value in zip(("intensity", "intensity.all"), expected, strict=True):
            figure = figures[f"{address}.{phase}"]
            assert figure.unit == "FLOPs/byte"
            if is_estimate(figure):
                assert abs(figure.value - value) <= value * CLOSE, address
            else:
                assert figure.value == value, address


def _reads_weights(tree: Tree) -> bool:
    """Whether a decode step multiplies at least one weight of the decoder or of the head."""
    stack = "decoder" if "layers" in tree else "encoder"
    rows = [t for _, b in Counted(tree).layers(stack) for t in Counted(tree).block(b)]
    return any(t.use == "matmul" and not t.of_source for t in [*rows, *Counted(tree).head()])


@given(descriptions("decoder"), tokens, st.integers(1, 5))
def test_a_dense_prefill_has_an_intensity_of_its_prompt(
    tree: Tree, prompt: int, batch: int
) -> None:
    for block in tree["blocks"].values():
        block["ffn"] = {"kind": "plain", "d_ff": 5}
    model = load(used_parts(tree))
    asked = {"prompt": prompt, "ctx": prompt, "batch": batch}
    in_16_bits = find(model, "intensity.prefill", **asked)
    assert in_16_bits == prompt * batch
    assert find(model, "intensity.decode", **asked) == batch
    assert find(model, "intensity.prefill", weights="int8", **asked) == 2 * in_16_bits


@given(descriptions("encoder"))
def test_an_encoder_alone_has_no_decode(tree: Tree) -> None:
    assume(_reads_weights(tree))
    model = load(tree)
    for address in ("intensity.decode", "intensity.all.decode"):
        with pytest.raises(RefusedError, match=f"{address}: no decode: an encoder-only model"):
            find(model, address, ctx=3)
