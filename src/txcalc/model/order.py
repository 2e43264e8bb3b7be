"""The order in which the sub-layers of a block run, with its norms and sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from txcalc.model.rows import Role

Placement = Literal["pre", "post", "output", "sandwich", "parallel", "parallel_two_norms"]


class Applied(msgspec.Struct, frozen=True):
    """What a block applies next: a norm (``before_ffn``), a sub-layer, or a sum with the stream."""

    kind: Literal["norm", "branch", "sum"]
    name: str


def branches(roles: Sequence[Role]) -> list[list[Role]]:
    """The sub-layers that leave the stream together: attention and ssm run side by side."""
    both = "attention" in roles and "ssm" in roles
    groups: list[list[Role]] = [["attention", "ssm"]] if both else []
    return groups + [[role] for role in roles if not (both and role in ("attention", "ssm"))]


def order(roles: Sequence[Role], placement: Placement) -> Iterator[Applied]:
    """The steps of a block with sub-layers of these ``roles``, from its input to its output."""
    groups = branches(roles)
    names = [group[0] for group in groups]
    together = placement in ("parallel", "parallel_two_norms")
    if placement == "parallel" and groups:
        yield Applied("norm", "before")
    for name, group in zip(names, groups, strict=True):
        if placement in ("pre", "sandwich", "parallel_two_norms"):
            yield Applied("norm", f"before_{name}")
        yield from (Applied("branch", role) for role in group)
        if placement in ("output", "sandwich"):
            yield Applied("norm", f"after_{name}")
        if not together or name == names[-1]:
            yield Applied("sum", group[-1])
        if placement == "post":
            yield Applied("norm", f"after_{name}")
