"""Short runs of the campaigns; long ones are started by hand with other seeds."""

from __future__ import annotations

import pytest

from tests.fuzz import descriptions, machine, options
from tests.fuzz.campaign import Case, ended


@pytest.mark.parametrize(
    ("case", "inputs"),
    [(descriptions.case, 40), (options.case, 150), (machine.case, 6)],
    ids=["descriptions", "options", "machine"],
)
def test_no_input_ends_badly(case: Case, inputs: int) -> None:
    for i in range(inputs):
        assert not ended(case, f"0/{i}")
