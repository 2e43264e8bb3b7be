"""The cache: the second count, and laws of growth, formats and batches."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.counting import BYTES, Counted, Tree
from tests.support.describing import descriptions
from tests.support.running import BUNDLED, find, load, named, refusal_of, report
from txcalc.errors import RefusedError
from txcalc.exact.quantity import const
from txcalc.workload.reach import Fixed, Source

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


# Formats of rows.


@pytest.mark.parametrize("name", BUNDLED)
def test_rows_sum_to_the_total(name: str) -> None:
    model = named(name)
    if not model.has_decoder:
        return
    for kv in ("fp16", "fp8", "q8_0", "fp8-128"):
        figures = report("kvcache", model, ctx=1027, batch=3, kv=kv).figures
        rows = [row for address, row in figures.items() if address.startswith("kvcache.rows.")]
        assert sum(row.value for row in rows) == figures["kvcache.total"].value


@given(descriptions("decoder", "both"), tokens, st.sampled_from(["q8_0", "q4_1", "fp8-128"]))
def test_tiles_lie_along_one_token(tree: Tree, ctx: int, fmt: str) -> None:
    """A row of w elements is so many started blocks of 32 or 128, whatever the tokens."""
    model = load(tree)
    block, bytes_ = {"q8_0": (32, 34), "q4_1": (32, 20), "fp8-128": (128, 4)}[fmt]
    expected = 0
    for kind in model.decoder_layers:
        for state in kind.state.values():
            width, stretch = int(state.width.value), ctx
            if not isinstance(state.reach, Source):
                stretch = int(state.reach.kept(const(ctx)).value)
            codes = width if fmt == "fp8-128" else 0
            each = bytes_ * -(-width // block) + codes
            if isinstance(state.reach, Fixed):  # not tiled: in its own format or in fp16
                each = width * (4 if state.fmt == "fp32" else 2)
            expected += int(kind.states.value) * stretch * each
    assert find(model, "kvcache.sequence", ctx=ctx, kv=fmt) == expected


def test_a_fixed_state_is_not_tiled() -> None:
    """github.com/vllm-project/vllm/issues/55196: a narrow cache leaves recurrent states alone."""
    model = named("qwen3-next-80b-a3b")
    wide, tiled = (report("kvcache", model, ctx=64, kv=kv).figures for kv in ("fp16", "q8_0"))
    assert wide["kvcache.fixed"] == tiled["kvcache.fixed"]
    assert tiled["kvcache.growth"].value == wide["kvcache.growth"].value * Fraction(34, 64)


def test_a_row_named_is_so_whatever_its_own_format() -> None:
    model = named("jamba-v0.1")
    own, named_so = (
        find(model, "kvcache.rows.recurrent", ctx=9, kv=kv) for kv in ("fp16", "recurrent=bf16")
    )
    assert own == 2 * named_so


def test_rows_of_one_format_each() -> None:
    """docs.vllm.ai, flashmla_sparse: 656 bytes of latent and rotary key; 132 of the indexer."""
    each = {"latent": "fp8-128", "rotary_key": "bf16", "index_keys": "fp8-128"}
    kv = ",".join(f"{row}={fmt}" for row, fmt in each.items())
    model = named("deepseek-v3.2")
    assert find(model, "kvcache.token", kv=kv) == 61 * (656 + 132)
    assert find(model, "kvcache.rows.index_keys", ctx=10, batch=2, kv=kv) == 61 * 132 * 20


@pytest.mark.parametrize(
    ("kv", "said"),
    [
        ("latent=fp8", "gpt2-small has no 'latent'; known: keys, values"),
        ("fp16,key=fp8", "did you mean 'keys'"),
    ],
)
def test_a_row_that_the_model_does_not_keep(kv: str, said: str) -> None:
    assert said in refusal_of(lambda: find(named("gpt2-small"), "kvcache.total", kv=kv))
