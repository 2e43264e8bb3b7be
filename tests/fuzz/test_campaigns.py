"""Short runs of the campaigns; long ones are started by hand with other seeds."""

from __future__ import annotations

import pytest

from tests.fuzz import configs, descriptions, doubling, machine, options, pages, values
from tests.fuzz.campaign import Case, ended


@pytest.mark.parametrize(
    ("case", "inputs"),
    [
        (descriptions.case, 80), (configs.case, 80), (pages.case, 150), (options.case, 300),
        (values.case, 1000), (machine.case, 6),
    ],
    ids=["descriptions", "configs", "pages", "options", "values", "machine"],
)  # fmt: skip
def test_no_input_ends_badly(case: Case, inputs: int) -> None:
    for i in range(inputs):
        assert not ended(case, f"0/{i}")


@pytest.mark.parametrize("kind", doubling.KINDS)
def test_what_a_doubling_campaign_repeats_is_read_or_refused(kind: str) -> None:
    assert doubling.seconds(doubling.KINDS[kind](9000)) < doubling.SECONDS
