"""Concurrency: weights over caches, and the first count at which the caches weigh more."""

from __future__ import annotations

from itertools import pairwise
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.counting import BYTES, Counted, Tree
from tests.support.describing import descriptions
from tests.support.running import MODELS, answer, load, named, report, run
from txcalc.errors import RefusedError

formats = st.sampled_from(sorted(BYTES))


@given(descriptions("decoder", "both"), st.integers(1, 50), formats, formats)
def test_crossover_is_the_first_count_whose_caches_outweigh(
    tree: Tree, ctx: int, weights: str, kv: str
) -> None:
    counted, model = Counted(tree), load(tree)
    cache = counted.cache(ctx, ctx, BYTES[kv])
    if not cache["kvcache.token"]:
        with pytest.raises(RefusedError, match="no token adds"):
            report("concurrency", model, ctx=ctx, weights=weights, kv=kv)
        return
    figures = report("concurrency", model, ctx=ctx, weights=weights, kv=kv).figures
    held = counted.parameters()["params.total"] * BYTES[weights]
    crossover = figures["concurrency.crossover"].value
    assert figures["weights.bytes"].value == held
    assert figures["kvcache.sequence"].value == cache["kvcache.sequence"]
    assert figures["concurrency.ratio"].value * cache["kvcache.sequence"] == held
    assert crossover * cache["kvcache.sequence"] > held
    assert (crossover - 1) * cache["kvcache.sequence"] <= held
    assert crossover == floor(figures["concurrency.ratio"].value) + 1


@pytest.mark.parametrize("name", [name for name in MODELS if named(name).has_decoder])
def test_bars_double_until_they_outweigh_the_weights(name: str) -> None:
    bars = [
        line.split()
        for line in answer("concurrency", name).splitlines()
        if line.rstrip().endswith("iB") and "█" in line
    ]
    weights, *caches = bars
    assert weights[0] == "weights"
    counts = [int(bar[0].replace(",", "")) for bar in caches]
    assert all(later == 2 * count for count, later in pairwise(counts))
    lengths = [len(bar[-3]) for bar in caches]
    assert lengths == sorted(lengths)
    assert lengths[-1] >= len(weights[1])


def test_an_encoder_alone_is_refused() -> None:
    code, out, err = run("concurrency", "roberta-base")
    assert (code, out) == (2, "")
    assert err.startswith("txcalc: roberta-base: no concurrency: an encoder-only model")
