"""Pairs of queries with compressed entries, against counting them one by one."""

from __future__ import annotations

import pytest

from txcalc.exact.quantity import const
from txcalc.workload.entries import met, met_by_all


@pytest.mark.parametrize("block", [1, 3, 4, 7])
@pytest.mark.parametrize("cap", [None, 1, 2, 5, 100])
@pytest.mark.parametrize("first", [1, 2, 5, 9])
@pytest.mark.parametrize("last", [9, 10, 33])
def test_pairs_with_entries(block: int, cap: int | None, first: int, last: int) -> None:
    seen = [min(t // block, last if cap is None else cap) for t in range(first, last + 1)]
    bounds = const(block), None if cap is None else const(cap), const(first), const(last)
    assert met(*bounds).value == sum(seen)
    assert met_by_all(*bounds).value == sum(t * n for t, n in enumerate(seen, first))
