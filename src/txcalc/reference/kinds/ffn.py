"""Plain and gated feed-forward networks."""

from __future__ import annotations

from txcalc.model.parts.ffn import Gated, Plain
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import relu, run, silu
from txcalc.reference.site import Site


@run.register
def _(part: Plain, x: Array, site: Site) -> Array:
    """ReLU(x W1 + b1) W2 + b2, arXiv:1706.03762 section 3.3."""
    hidden = relu(site.linear("up", x, part.d_ff, bias=part.bias))
    return site.linear("down", hidden, x.shape[-1], bias=part.bias)


@run.register
def _(part: Gated, x: Array, site: Site) -> Array:
    """(silu(x W_gate) * (x W_up)) W_down, arXiv:2002.05202."""
    gate = silu(site.linear("gate", x, part.d_ff, bias=part.bias))
    hidden = gate * site.linear("up", x, part.d_ff, bias=part.bias)
    return site.linear("down", hidden, x.shape[-1], bias=part.bias)
