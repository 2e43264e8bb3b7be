"""A layer: its sub-layers, norms and sums in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from txcalc.errors import UnprovedError
from txcalc.model.parts.altup import AltUp
from txcalc.model.parts.hyper import HyperConnections
from txcalc.model.structure import Block
from txcalc.reference.counter import Array, Ids
from txcalc.reference.kinds import run
from txcalc.reference.kinds.altup import alternated
from txcalc.reference.kinds.base import refuse
from txcalc.reference.kinds.hyper import connected
from txcalc.reference.kinds.tensor import run_tensor
from txcalc.reference.site import Site

Branch = Callable[[Array], Array]
Join = Callable[[str, Array, Branch], Array]
"""How a branch of a name leaves the stream and comes back to it."""


def run_block(block: Block, x: Array, ids: Ids, site: Site) -> Array:
    """The stream after a layer: (batch, tokens, d_model), or with an axis of streams before it."""
    residual = site.at("residual")
    match block.residual:
        case None:
            return _tensors(block, _sub_layers(block, x, site, _added), ids, site)
        case AltUp() as altup:

            def layer(active: Array) -> Array:
                return _tensors(block, _sub_layers(block, active, site, _added), ids, site)

            return alternated(altup, x, layer, residual)
        case HyperConnections() as hyper:
            if block.placement not in ("pre", "output", "sandwich"):
                refuse("hyper", f"placement {block.placement}")

            def join(name: str, streams: Array, branch: Branch) -> Array:
                return connected(hyper, name, streams, branch, residual)

            x = _sub_layers(block, x, site, join)
            first = _tensors(block, x[..., 0, :], ids, site)
            return x + (first - x[..., 0, :])[..., None, :]


def _added(name: str, x: Array, branch: Branch) -> Array:
    """The one residual stream: what a branch makes is added to it."""
    return x + branch(x)


def _tensors(block: Block, x: Array, ids: Ids, site: Site) -> Array:
    """Tensors that no part knows, on the stream behind the sub-layers."""
    for name, tensor in block.tensors.items():
        if tensor.stream == "own":
            x = run_tensor(tensor, name, x, ids, site.at("tensors"))
        elif tensor.stream != "none":
            refuse("tensor", f"stream {tensor.stream} in a block")
    return x


def _sub_layers(block: Block, x: Array, site: Site, join: Join) -> Array:
    """Sub-layers one after another, or of one stream side by side.

    pre and post: arXiv:2002.04745 figure 1; output: arXiv:2501.00656 section 2; sandwich:
    arXiv:2408.00118 section 2; parallel: arXiv:2204.02311 section 2.
    """
    groups = _branches(block)

    def norm(name: str, y: Array) -> Array:
        return site.at("norms").norm(name, y, block.norm)

    def bare(roles: Sequence[str]) -> Branch:
        return lambda y: sum((_run(block, role, y, site) for role in roles), np.zeros(1))

    def behind(roles: Sequence[str]) -> Branch:
        return lambda y: bare(roles)(norm(f"before_{roles[0]}", y))

    def between(roles: Sequence[str], branch: Branch) -> Branch:
        return lambda y: norm(f"after_{roles[0]}", branch(y))

    match block.placement:
        case "pre":
            for roles in groups:
                x = join(roles[0], x, behind(roles))
        case "post":
            for roles in groups:
                x = norm(f"after_{roles[0]}", join(roles[0], x, bare(roles)))
        case "output":
            for roles in groups:
                x = join(roles[0], x, between(roles, bare(roles)))
        case "sandwich":
            for roles in groups:
                x = join(roles[0], x, between(roles, behind(roles)))
        case "parallel":
            normed = norm("before", x)
            x = sum((bare(roles)(normed) for roles in groups), x)
        case "parallel_two_norms":
            x = sum((behind(roles)(x) for roles in groups), x)
    return x


def _run(block: Block, role: str, x: Array, site: Site) -> Array:
    """One sub-layer.

    Raises:
        UnprovedError: what it is made of does not fit together.
    """
    try:
        return run(getattr(block, role), x, site.at(role))
    except ValueError as error:
        raise UnprovedError(f"{site.component}.{role} does not run: {error}") from None


def _branches(block: Block) -> list[list[str]]:
    """The sub-layers that leave the stream together, in the order in which they run."""
    roles = [r for r in ("attention", "ssm", "cross_attention", "ffn") if getattr(block, r)]
    if "attention" in roles and "ssm" in roles:
        return [["attention", "ssm"], *([role] for role in roles[2:])]
    return [[role] for role in roles]
