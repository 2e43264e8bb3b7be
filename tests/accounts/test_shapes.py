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
            sizes = {p: prod(int(side.value) for side in s) for p, s in points.items()}
            rows = [t for t in counted.block(block) if t.where == role and t.use == "matmul"]
            extra = ("scores", "merged", "sum")
            made = sorted(size for point, size in sizes.items() if point not in extra)
            assert made == sorted(batch * tokens * t.out * t.used for t in rows)
            if role != "ffn" and role in block:
                part = counted.part(block, role)
                assert part is not None
                heads, _, _, v_dim = counted.heads(part)
                assert sizes["scores"] == batch * heads * tokens * tokens
                assert sizes["merged"] == batch * tokens * heads * v_dim


@given(descriptions(), st.integers(1, 4), st.integers(1, 9))
def test_each_branch_leaves_the_stream_and_comes_back(tree: Tree, batch: int, tokens: int) -> None:
    answer = report("shapes", load(tree), batch=batch, tokens=tokens)
    stream = (batch, tokens, tree["d_model"])
    for name, block in tree["blocks"].items():
        at = f"shapes.block.{name}."
        roles = [role for role in ROLES if role in block]
        notes = [(p.removeprefix(at), n) for p, n in answer.notes.items() if p.startswith(at)]
        left = [point.partition(".")[0] for point, note in notes if note == "leaves"]
        back = [point for point, note in notes if note == "rejoins"]
        parallel = block.get("placement", "pre").startswith("parallel")
        assert left == roles
        assert back == [f"{role}.sum" for role in (roles[-1:] if parallel else roles)]
        for point in ["input", *back]:
            assert tuple(side.value for side in answer.shapes[at + point]) == stream
