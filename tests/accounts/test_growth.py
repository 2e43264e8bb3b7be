"""What a cache grows by is the difference of what it holds, over windows and over whole blocks."""

from __future__ import annotations

import pytest

import txcalc
from tests.support.running import BUNDLED, named

BLOCK = 128
"""A multiple of every block of tokens that a bundled model keeps one entry for."""
DECODERS = [name for name in BUNDLED if named(name).has_decoder]


@pytest.mark.parametrize("name", DECODERS)
def test_growth_over_a_block_is_the_difference_of_two_sequences(name: str) -> None:
    """Entries of a block count by their mean, so single steps need not be the differences."""
    source = {"source": 7} if named(name).has_encoder else {}
    growth, sequence = (
        txcalc.function(name, f"kvcache.{part}", "ctx", **source) for part in ("growth", "sequence")
    )
    for ctx in (1, 77, 1000, 5000):
        grown = sum(growth(tokens) for tokens in range(ctx, ctx + BLOCK))
        assert grown == sequence(ctx + BLOCK) - sequence(ctx), ctx


@pytest.mark.parametrize("name", DECODERS)
def test_no_token_adds_more_than_it_writes(name: str) -> None:
    for ctx in (1, 1000, 10**9):
        growth, token = (
            txcalc.get(name, f"kvcache.{part}", ctx=ctx) for part in ("growth", "token")
        )
        assert 0 <= growth <= token
