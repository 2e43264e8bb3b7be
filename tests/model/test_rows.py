"""The one walk over a model: every row has its place, its role, and is counted once."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from tests.support.running import BUNDLED, get, named
from txcalc.model.model import Row
from txcalc.model.rows import Weight
from txcalc.model.structure import COMPONENTS


def parameters(rows: list[Row]) -> Fraction:
    return Fraction(
        sum(
            (row.layers.sets if row.layers else row.times).value * row.declared.stored.value
            for row in rows
            if isinstance(row.declared, Weight)
        )
    )


@pytest.mark.parametrize("name", BUNDLED)
def test_the_parameters_of_all_roles_are_those_of_the_model(name: str) -> None:
    model = named(name)
    rows = [row for row in model.text_rows if row.component != "mtp"]
    assert parameters(rows) == get(name, "params.total")
    assert parameters([row for row in model.rows if row.component == "mtp"]) == get(
        name, "params.mtp"
    )
    by_role: Counter[str] = Counter()
    for row in rows:
        by_role[row.role] += parameters([row])
    assert by_role["embedding"] == get(name, "params.embedding")
    assert by_role["head"] == get(name, "params.head")
    assert by_role["buffers"] == 0


@pytest.mark.parametrize("name", BUNDLED)
def test_every_row_has_an_address_of_its_own(name: str) -> None:
    kinds = Counter((type(row.declared), row.address) for row in named(name).rows)
    assert set(kinds.values()) == {1}


def roles(name: str, component: str) -> dict[str, str]:
    rows = named(name).rows
    return {row.name: row.role for row in rows if row.component == component}


def test_a_mixture_has_experts_a_router_and_shared_experts() -> None:
    """DeepSeek-V3, arXiv:2412.19437 section 2.1.2: its router's bias is corrected, not trained."""
    found = roles("deepseek-v3", "block.moe")
    assert {found[f"ffn.{name}"] for name in ("gate", "up", "down")} == {"experts"}
    assert {found[f"ffn.shared_{name}"] for name in ("gate", "up", "down")} == {"shared"}
    assert (found["ffn.router"], found["ffn.router_bias"]) == ("router", "buffers")
    assert found["attention.latent"] == found["attention.scores"] == "attention"
    assert found["norms.before_ffn"] == "norms"
    assert set(roles("deepseek-v3", "mtp").values()) == {"mtp"}


def test_other_slots_are_roles_too() -> None:
    found = roles("deepseek-v4-flash", "block.sparse_moe")
    assert {role for name, role in found.items() if name.startswith("residual.")} == {"residual"}
    assert roles("gpt2-small", "final_norm") == {"norm": "norms", "norm_bias": "norms"}
    assert set(roles("jamba-v0.1", "block.mamba_dense").values()) == {"ssm", "ffn", "norms"}
    across = roles("bart-base", "block.decoder")
    assert across["cross_attention.q"] == "cross_attention"


def test_no_block_has_the_name_of_a_component() -> None:
    for name in BUNDLED:
        assert not set(named(name).blocks) & set(COMPONENTS)
