"""Weights that a pass reads: each once, however often it multiplies them."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.counting import Tree
from tests.support.describing import descriptions
from tests.support.running import BUNDLED, data, find, load, named, refusal_of, report
from txcalc.model.model import Model

LAYER, HEAD, TABLE = 4 * 8 * 8 + 2 * 8 * 16, 10 * 8, 10 * 8
REPEATED: dict[str, tuple[int, Tree, int, int]] = {
    "loops": (3, {"loops": 2}, 3, 6),
    "shared": (5, {"shared": True}, 1, 5),
}
"""Layers and fields; how many sets of weights that stores, and how many layers a pass runs."""


def described(count: int, **fields: Any) -> Tree:
    """Layers of 8 channels, 2 heads and an FFN of 16, without a norm or a bias."""
    block: Tree = {
        "norm": "none",
        "attention": {"kind": "mha", "n_heads": 2},
        "ffn": {"kind": "plain", "d_ff": 16},
    }
    return {
        "name": "repeated",
        "source": "made up",
        "d_model": 8,
        "vocab": 10,
        "blocks": {"decoder": block | fields},
        "layers": {"count": count, "pattern": ["decoder"]},
        "head": {"tied": False},
    }


def bytes_read(model: Model, phase: str, **asked: int) -> int | Fraction:
    """The bytes beneath an intensity."""
    _, read = report("intensity", model, **asked).figures[f"intensity.{phase}"].args
    return read.value


@pytest.mark.parametrize("case", REPEATED)
def test_repeated_layers_read_their_weights_once(case: str) -> None:
    count, fields, stored, ran = REPEATED[case]
    model = load(described(count, **fields))
    multiplied, read = ran * LAYER + HEAD, stored * LAYER + HEAD
    assert find(model, "params.total") == read + TABLE
    # 2 FLOPs for each weight and token, over 2 bytes for each weight.
    prefill = find(model, "intensity.prefill", ctx=5, prompt=7, batch=2)
    assert prefill == Fraction(7 * 2 * multiplied, read)
    assert find(model, "intensity.decode", ctx=5, batch=3) == Fraction(3 * multiplied, read)


@pytest.mark.parametrize("case", REPEATED)
def test_all_that_a_step_of_repeated_layers_moves(case: str) -> None:
    count, fields, stored, ran = REPEATED[case]
    keys = values = 2 * 4
    flops = 2 * (ran * LAYER + HEAD) + ran * 2 * (keys + values) * 5
    products = 4 * (8 + 8) + 2 * (8 + 16) + keys + values  # q k v o, up and down, scores
    weights, passed_on = stored * LAYER + HEAD, ran * products + (8 + 10)
    cache = ran * (keys + values) * (5 + 1)  # five tokens read, one of them written
    intensity = find(load(described(count, **fields)), "intensity.all.decode", ctx=5)
    assert intensity == Fraction(flops, 2 * (weights + passed_on + cache))


def test_albert_reads_its_one_layer_once() -> None:
    """arXiv:1909.11942, table 1: 12 layers of one set, embeddings of 128 for a width of 768."""
    model = named("albert-base-v1")
    layer, beside = 4 * 768**2 + 2 * 768 * 3072, 2 * 128 * 768 + 128 * 30000
    assert bytes_read(model, "prefill") == 2 * (layer + beside)
    intensity = find(model, "intensity.prefill", ctx=512)
    assert intensity == Fraction(512 * (12 * layer + beside), layer + beside)


@pytest.mark.parametrize("name", BUNDLED)
def test_no_bundled_model_reads_more_than_it_holds(name: str) -> None:
    model = named(name)
    held = find(model, "weights.bytes")
    for phase in ("prefill", "decode") if model.has_decoder else ("prefill",):
        assert 0 < bytes_read(model, phase, ctx=3, batch=5) <= held


@given(descriptions(), st.integers(1, 30), st.integers(1, 4))
def test_no_generated_model_reads_more_than_it_holds(tree: Tree, ctx: int, batch: int) -> None:
    model = load(tree)
    assume(not refusal_of(lambda: find(model, "intensity.prefill", ctx=ctx)))
    held = find(model, "weights.bytes")
    for phase in ("prefill", "decode") if model.has_decoder else ("prefill",):
        assert 0 < bytes_read(model, phase, ctx=ctx, batch=batch) <= held


TABLES = (
    "embedding.tokens", "embedding.positions", "embedding.token_types", "tensors.per_layer_tokens",
    "tower", "projector",
)  # fmt: skip
"""What is looked up (the last is Gemma 3n's table of every layer), and what no text runs."""


@pytest.mark.parametrize("name", BUNDLED)
def test_a_long_prefill_reads_every_matrix_but_the_tables(name: str) -> None:
    """Once, a tied head too; of a million sequences each of the experts has some."""
    [tensors] = data("params", name, "--tensors")
    matrices = sum(
        prod(row["dims"]) * row["copies"]
        for row in tensors["rows"]
        if len(row["dims"]) == 2 and not row["address"].removeprefix("params.").startswith(TABLES)
    )
    assert bytes_read(named(name), "prefill", batch=10**6) == 2 * matrices
