"""Layouts: which sizes go together, and how many layers each stage has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.running import refusal_of
from txcalc.workload.layout import layout


@given(st.integers(1, 40), st.integers(1, 200))
def test_stages_share_the_layers_as_equally_as_possible(pp: int, count: int) -> None:
    if pp > count:
        assert "at least one for a stage" in refusal_of(lambda: layout(pp=pp).layers(count))
        return
    sizes = layout(pp=pp).layers(count)
    assert (len(sizes), sum(sizes)) == (pp, count)
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) - min(sizes) <= 1


def test_stages_that_are_listed() -> None:
    # github.com/vllm-project/vllm/pull/20665: 27 layers on two stages.
    assert layout(pp=2, stages="14,13").layers(27) == [14, 13]


@pytest.mark.parametrize("tp", range(1, 13))
def test_tokens_are_divided_by_a_divisor_of_a_group(tp: int) -> None:
    each = [dcp for dcp in range(1, 13) if not refusal_of(layout(tp=tp, dcp=dcp).check)]
    assert each == [dcp for dcp in range(1, tp + 1) if tp % dcp == 0]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"tp": 0}, "--tp 0: a whole number from 1"),
        ({"dp": 10**7}, "a whole number from 1 to 10^6"),
        ({"pp": 1001}, "at most 1,000 stages"),
        ({"stages": "14;13"}, "as 14,13"),
        ({"stages": "14,0"}, "as 14,13"),
        ({"stages": "9" * 5000}, "as 14,13"),
    ],
)
def test_sizes_that_no_layout_has(sizes: dict[str, Any], said: str) -> None:
    assert said in refusal_of(lambda: layout(**sizes))
