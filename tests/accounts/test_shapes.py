"""Shapes: every product of a block, and the residual stream around it."""

from __future__ import annotations

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from tests.support.counting import ROLES, Counted, Tree
from tests.support.describing import descriptions
from tests.support.running import load, report


@given(descriptions(), st.integers(1, 4), st.integers(1, 9))
def test_every_product_of_a_block_has_its_shape(tree: Tree, batch: int, tokens: int) -> None:
    counted = Counted(tree)
    shapes = report("shapes", load(tree), batch=batch, tokens=tokens).shapes
    for name, block in tree["blocks"].items():
        for role in ROLES:
            at = f"shapes.block.{name}.{role}."
            points = {p.removeprefix(at): s for p, s in shapes.items() if p.startswith(at)}
            sizes = {p: prod(side.value for side in s) for p, s in points.items()}
            part = counted.part(name)
            rows = [t for t in part.tensors if t.where == role and t.use == "matmul"]
            looks = [look for look in part.looks if look.where == role]
            extra = [p for p in sizes if p in ("merged", "sum") or p.endswith("scores")]
            made = sorted(size for point, size in sizes.items() if point not in extra)
            assert made == sorted(batch * tokens * t.out * t.used for t in rows)
            keys = [tokens // (look.reach.block or 1) for look in looks]
            seen = [batch * look.heads * tokens * n for look, n in zip(looks, keys, strict=True)]
            assert sorted(sizes[p] for p in extra if p.endswith("scores")) == sorted(seen)
            if looks:
                width = looks[0].d_v // (2 if _subtracts(counted, block, role) else 1)
                assert sizes["merged"] == batch * tokens * looks[0].heads * width


def _subtracts(counted: Counted, block: Tree, role: str) -> bool:
    """Whether of every two heads' values one is left, half as many channels."""
    return bool((counted.sublayer(block, role) or {}).get("differential"))


@given(descriptions(), st.integers(1, 4), st.integers(1, 9))
def test_each_branch_leaves_the_stream_and_comes_back(tree: Tree, batch: int, tokens: int) -> None:
    answer = report("shapes", load(tree), batch=batch, tokens=tokens)
    counted = Counted(tree)
    for name, block in tree["blocks"].items():
        stream = (batch, tokens, counted.width(counted.stack_of(name)))
        at = f"shapes.block.{name}."
        roles = [role for role in ROLES if role in block]
        notes = [(p.removeprefix(at), n) for p, n in answer.notes.items() if p.startswith(at)]
        left = [point.partition(".")[0] for point, note in notes if note == "leaves"]
        back = [point for point, note in notes if note == "rejoins"]
        parallel = block.get("placement", "pre").startswith("parallel")
        together = "attention" in roles and "ssm" in roles  # side by side behind one norm
        sums = [role for role in roles if not (together and role == "attention")]
        assert left == roles
        assert back == [f"{role}.sum" for role in (roles[-1:] if parallel else sums)]
        for point in ["input", *back]:
            assert tuple(side.value for side in answer.shapes[at + point]) == stream
