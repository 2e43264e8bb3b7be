"""How GPUs divide a model: letters by a tensor-parallel group, layers by stages."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest

from tests.support.describing import layer
from tests.support.running import BUNDLED, load, named, refusal_of
from txcalc.model.cut import divided_by, gpu, group_sizes, held, stands_before
from txcalc.model.model import Model
from txcalc.model.rows import State, Weight
from txcalc.model.stages import Stage
from txcalc.workload.layout import Layout, layout

DECODERS = [name for name in BUNDLED if named(name).has_decoder]
named = cache(named)


def stages(model: Model, pp: int) -> list[Stage]:
    return [Stage(model, layout(pp=pp), number) for number in range(pp)]


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("tp", [2, 4, 8])
def test_only_divided_letters_are_smaller(name: str, tp: int) -> None:
    model = named(name)
    if refusal_of(lambda: gpu(model, layout(tp=tp))):
        return
    wholes = {row.address: row.declared for row in model.rows if isinstance(row.declared, Weight)}
    for row in held(model, layout(tp=tp)):
        if isinstance(row.declared, Weight):
            here, whole = row.declared.each.value, wholes[row.address].each.value
            assert whole <= here * tp
            assert here <= whole or row.name.startswith(("tokens", "output"))


def letters(name: str, **sizes: Any) -> dict[str, set[str]]:
    """By role what divides the rows that a GPU holds."""
    by_role: dict[str, set[str]] = {}
    for row in held(named(name), layout(**sizes)):
        if isinstance(row.declared, Weight):
            names = {*divided_by(row.declared.stored), *divided_by(row.times)}
            layers = divided_by(row.layers.sets) if row.layers else []
            by_role.setdefault(row.role, set()).update(names, layers)
    return by_role


def test_what_a_group_divides() -> None:
    # arXiv:2401.06066 and arXiv:2405.04434: latents are whole on each GPU, heads and widths not.
    by_role = letters("deepseek-v3", tp=8)
    assert by_role["attention"] == {"n_heads"}
    assert by_role["ffn"] == {"d_ff"}
    assert by_role["experts"] == by_role["shared"] == {"d_expert"}
    assert by_role["embedding"] == by_role["head"] == {"vocab"}
    assert by_role["norms"] == by_role["router"] == set()


def test_what_groups_and_stages_divide() -> None:
    assert letters("mixtral-8x7b", dp=2)["experts"] == {"d_expert"}
    assert letters("mixtral-8x7b", dp=2, ep=True)["experts"] == {"n_experts"}
    assert letters("mixtral-8x7b", dp=2)["attention"] == set()
    assert letters("mixtral-8x7b", pp=2)["attention"] == {"n_layers"}


@pytest.mark.parametrize("name", DECODERS)
def test_groups_that_a_model_can_have_are_among_those_listed(name: str) -> None:
    model = named(name)
    can = [n for n in range(1, 13) if not refusal_of(lambda n=n: gpu(model, layout(tp=n)))]
    assert set(can) <= set(group_sizes(model, 12))


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("pp", [2, 3, 7])
def test_every_layer_stands_in_one_stage_in_its_order(name: str, pp: int) -> None:
    model = named(name)
    if sum(int(stack.count.value) for stack in model.stacks.values()) < pp:
        return
    for stack, whole in model.stacks.items():
        listed = [block for stage in stages(model, pp) for block in stage.blocks[stack]]
        assert listed == list(whole.layers())


@pytest.mark.parametrize("name", DECODERS)
def test_every_row_stands_in_a_stage_and_tables_alone_in_several(name: str) -> None:
    model, pp = named(name), 3
    held_in = Counter(
        row.address
        for number in range(pp)
        for row in held(model, layout(pp=pp), number)
        if isinstance(row.declared, Weight)
    )
    for row in model.text_rows:
        if isinstance(row.declared, Weight):
            assert held_in[row.address] >= 1
            assert row.layers or held_in[row.address] == 1 or row.component == "embedding"


def test_a_tied_table_stands_at_both_ends() -> None:
    model, parallel = named("gemma-2-9b"), layout(pp=4)
    [table] = [row for row in model.rows if row.address == "embedding.tokens"]
    [output] = [row for row in model.rows if row.address == "head.output"]
    assert [stage.holds(table) for stage in stages(model, 4)] == [True, False, False, True]
    assert [stage.holds(output) for stage in stages(model, 4)] == [False, False, False, True]
    assert [stands_before(model, parallel, n, table) for n in range(4)] == [False, True, True, True]


def test_a_decoder_begins_where_its_encoder_ends() -> None:
    # arXiv:1910.13461: six layers each; the decoder looks up the same table as the encoder.
    model = named("bart-base")
    blocks = [stage.blocks for stage in stages(model, 3)]
    assert [len(each["encoder"]) for each in blocks] == [4, 2, 0]
    assert [len(each["decoder"]) for each in blocks] == [0, 2, 4]
    rows = {row.address: row for row in model.rows}
    places = {
        "embedding.tokens": [True, True, True],
        "embedding.positions.encoder": [True, False, False],
        "embedding.positions.decoder": [False, True, False],
        "embedding.norm.decoder": [False, True, False],
    }
    for address, expected in places.items():
        assert [stage.holds(rows[address]) for stage in stages(model, 3)] == expected


def test_shared_layers_are_stored_by_each_stage_that_runs_them() -> None:
    tree = layer(ffn={"kind": "plain", "d_ff": 4})
    tree["blocks"]["decoder"]["shared"] = True
    tree["layers"]["count"] = 4
    model, parallel = load(tree), layout(pp=2)
    [up] = [row for row in model.rows if row.address == "block.decoder.ffn.up"]
    assert [stage.holds(up) for stage in stages(model, 2)] == [True, True]
    assert [stands_before(model, parallel, number, up) for number in (0, 1)] == [False, True]


@pytest.mark.parametrize("name", [name for name in DECODERS if named(name).mtp is not None])
def test_modules_stand_at_the_end(name: str) -> None:
    parallel: Layout = layout(pp=2)
    first, last = (
        [row for row in held(named(name), parallel, n) if row.component == "mtp"] for n in (0, 1)
    )
    assert not first
    assert any(isinstance(row.declared, State) for row in last)
