"""Every kind of part, and every field of one, goes through the laws: see tests/support."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.counting.inventory import KINDS
from tests.support.describing import descriptions
from tests.support.describing.parts import (
    ATTENTIONS,
    CROSS,
    FFNS,
    POSITIONS,
    SSMS,
    Place,
)
from txcalc.model import parts
from txcalc.model.parts import Residual
from txcalc.model.parts.base import Part
from txcalc.model.parts.compressed import EntryIndexer
from txcalc.model.parts.indexer import BlockIndexer, Indexer
from txcalc.model.parts.tensor import Tensor
from txcalc.model.structure import Block, Embedding, Head, Module, Stack

UNIONS = {
    "attention": (parts.Attention, ATTENTIONS),
    "cross_attention": (parts.CrossAttention, CROSS),
    "ssm": (parts.Ssm, SSMS),
    "ffn": (parts.Ffn, FFNS),
    "positions": (parts.Positions, POSITIONS),
}
EACH = {
    "attention": {kind: make(Place(6, merged=True)) for kind, make in ATTENTIONS.items()},
    "ssm": SSMS,
    "ffn": FFNS,
    "positions": POSITIONS,
}
NOT_DRAWN = {"mha": {"square"}, "gqa": {"square"}, "cca": {"shares_kv", "square"}}
"""Squares are of towers alone; convolutions are of keys that are its own."""
AROUND: dict[str, type[msgspec.Struct]] = {
    "blocks": Block, "encoder": Stack, "head": Head, "embedding": Embedding, "mtp": Module,
    "tensors": Tensor,
}  # fmt: skip
ELSEWHERE = {"blocks": {"partial", "mechanism"}, "encoder": {"length", "reads"}}
"""Fields that have tests of their own: what is partial is refused, a length is a default, and what
reads sound is a tower.
"""
INDEXERS = {"mha": BlockIndexer, "mla": Indexer, "compressed": EntryIndexer}


def tagged(union: Any) -> dict[str, type[Part]]:
    """The kinds of a union by their names in a description."""
    return {str(kind.__struct_config__.tag): kind for kind in get_args(union)}


def often(strategy: st.SearchStrategy[Any], examples: int) -> list[Any]:
    """So many examples, always the same."""
    drawn: list[Any] = []

    @settings(max_examples=examples, phases=[Phase.generate], derandomize=True)
    @given(strategy)
    def draw(example: Any) -> None:
        drawn.append(example)

    draw()
    return drawn


@pytest.mark.parametrize("role", UNIONS)
def test_every_kind_is_drawn_and_counted(role: str) -> None:
    union, drawn = UNIONS[role]
    assert set(drawn) == set(tagged(union))
    assert role == "positions" or set(drawn) <= set(KINDS)


@pytest.fixture(scope="module")
def fields() -> dict[str, set[str]]:
    """All fields that descriptions give, by where they stand, and ``kind.ROLE`` their kinds."""
    found: dict[str, set[str]] = defaultdict(set)

    def visit(place: str, tree: Any, shared: dict[str, Any]) -> None:
        tree = shared.get(tree, tree) if isinstance(tree, str) else tree
        if not isinstance(tree, dict):
            return
        found[place] |= set(tree)
        found[f"kind.{place}"] |= {tree["kind"]} if "kind" in tree else set()
        for key, below in tree.items():
            if key in ("blocks", "tensors"):
                for member in below.values():
                    visit(key, member, shared)
            else:
                visit(key, below, shared)

    for tree in often(descriptions(), 200):
        visit("", tree, tree["parts"])
    return found


@pytest.mark.parametrize("role", UNIONS)
def test_descriptions_are_made_of_every_kind(role: str, fields: dict[str, set[str]]) -> None:
    assert fields[f"kind.{role}"] == set(tagged(UNIONS[role][0]))


@pytest.mark.parametrize("place", AROUND)
def test_every_field_around_parts_is_drawn(place: str, fields: dict[str, set[str]]) -> None:
    known = set(AROUND[place].__struct_fields__) - ELSEWHERE.get(place, set())
    assert fields[place] == known


def test_every_field_of_a_residual_is_drawn(fields: dict[str, set[str]]) -> None:
    known = {field for kind in get_args(Residual) for field in kind.__struct_fields__}
    assert fields["residual"] == {"kind", *known}


@pytest.mark.parametrize(("role", "kind"), [(role, kind) for role in EACH for kind in EACH[role]])
def test_every_field_of_a_kind_is_drawn(role: str, kind: str) -> None:
    known = set(tagged(UNIONS[role][0])[kind].__struct_fields__) - NOT_DRAWN.get(kind, set())
    drawn = {field for tree in often(EACH[role][kind], 8 * len(known) + 1) for field in tree}
    assert drawn - {"kind"} == known


@pytest.mark.parametrize("kind", INDEXERS)
def test_every_field_of_an_indexer_is_drawn(kind: str) -> None:
    trees = often(EACH["attention"][kind], 100)
    drawn = {field for tree in trees for field in tree.get("indexer", ())}
    assert drawn == set(INDEXERS[kind].__struct_fields__)
