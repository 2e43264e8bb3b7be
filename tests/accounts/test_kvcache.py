"""The cache: the second count, and laws of growth, formats and batches."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.counting import BYTES, Counted, Tree
from tests.support.describing import descriptions
from tests.support.running import find, load, report
from txcalc.errors import RefusedError

tokens = st.integers(1, 50)
formats = st.sampled_from(sorted(BYTES))
PERIOD = 12
"""Tokens after which every block of entries has begun anew."""


@settings(max_examples=5 * settings().max_examples)
@given(descriptions("decoder", "both"), tokens, tokens, st.integers(1, 5), formats)
def test_every_sum_equals_a_plain_count(
    tree: Tree, ctx: int, source: int, batch: int, fmt: str
) -> None:
    model = load(tree)
    asked = {"source": source} if "encoder" in tree else {}
    figures = report("kvcache", model, ctx=ctx, batch=batch, kv=fmt, **asked).figures
    expected = Counted(tree).cache(ctx, source, BYTES[fmt])
    for address, value in expected.items():
        assert figures[address].value == value, address
        assert figures[address].unit == "bytes"
    assert figures["kvcache.total"].value == batch * expected["kvcache.sequence"]


@given(descriptions("decoder", "both"), tokens, tokens)
def test_growth_over_a_block_is_the_difference_of_two_sequences(
    tree: Tree, ctx: int, source: int
) -> None:
    model = load(tree)
    asked = {"source": source} if "encoder" in tree else {}
    growth = [find(model, "kvcache.growth", ctx=ctx + t, **asked) for t in range(PERIOD)]
    now, then = (find(model, "kvcache.sequence", ctx=t, **asked) for t in (ctx, ctx + PERIOD))
    assert sum(growth) == then - now


@given(descriptions("decoder", "both"), st.integers(1, 3))
def test_sequence_is_growing_fixed_and_cross_parts(tree: Tree, blocks: int) -> None:
    model, ctx = load(tree), PERIOD * blocks
    figures = {a: q.value for a, q in report("kvcache", model, ctx=ctx).figures.items()}
    growing = sum(find(model, "kvcache.growth", ctx=t, source=ctx if "encoder" in tree else None)
                  for t in range(1, ctx))  # fmt: skip
    first = find(model, "kvcache.token", ctx=1)
    parts = first + growing + figures["kvcache.fixed"] + figures["kvcache.cross"]
    assert figures["kvcache.sequence"] == parts
    assert figures["kvcache.growth"] <= figures["kvcache.token"]


@given(descriptions("decoder", "both"), tokens, formats)
def test_bytes_scale_with_the_format(tree: Tree, ctx: int, fmt: str) -> None:
    model = load(tree)
    for address in ("kvcache.token", "kvcache.growth", "kvcache.cross", "weights.bytes"):
        one = find(model, address, ctx=ctx, dtype="int8")
        assert find(model, address, ctx=ctx, dtype=fmt) == one * Fraction(BYTES[fmt]), address
    one, many = (
        find(model, "kvcache.sequence", ctx=ctx, dtype=dtype)
        - find(model, "kvcache.fixed", ctx=ctx, dtype=dtype)
        for dtype in ("int8", fmt)
    )
    assert many == one * Fraction(BYTES[fmt])
    parameters = find(model, "params.total")
    assert find(model, "weights.bytes", weights=fmt, dtype="fp32") == parameters * BYTES[fmt]
    assert find(model, "kvcache.token", kv=fmt, dtype="fp32", ctx=ctx) == find(
        model, "kvcache.token", kv="int8", ctx=ctx
    ) * Fraction(BYTES[fmt])


@given(descriptions("decoder", "both"), tokens)
def test_layers_sum_to_the_sequence(tree: Tree, ctx: int) -> None:
    figures = {a: q.value for a, q in report("kvcache", load(tree), ctx=ctx).figures.items()}
    layers = list(Counted(tree).keeping("decoder"))
    for part in ("token", "growth", "fixed", "cross", "sequence"):
        kept = sum(figures[f"kvcache.block.{name}.{part}"] for name in layers)
        assert figures[f"kvcache.{part}"] == kept


@given(descriptions("encoder"))
def test_an_encoder_alone_keeps_nothing_by_name(tree: Tree) -> None:
    with pytest.raises(RefusedError, match="generated: no KV cache: an encoder-only model"):
        report("kvcache", load(tree), ctx=3)
