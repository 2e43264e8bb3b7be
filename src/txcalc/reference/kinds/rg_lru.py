"""The real-gated linear recurrent unit, token by token."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts.rg_lru import RgLru
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import refuse, run, sigmoid, silu, softplus
from txcalc.reference.kinds.conv import convolved
from txcalc.reference.site import Site, number


@run.register
def _(part: RgLru, x: Array, site: Site) -> Array:
    """arXiv:2402.19427 sections 2.3 and 2.4."""
    n_inner, gated = number(part.d_inner), number(part.n_gate_blocks) * number(part.gate_dim)
    if n_inner != gated:
        refuse("rg_lru", f"{n_inner} channels, of which gates have {gated}")
    inner, other = (site.linear(name, x, n_inner, bias=True) for name in ("x", "y"))
    inner = convolved(site, inner, part.d_conv, bias=True, kept=number(part.d_conv) - 1)
    write, forget = (sigmoid(_gate(part, name, inner, site)) for name in ("input", "recurrent"))
    decay = np.exp(-8.0 * softplus(site.weight("decay", n_inner)) * forget)
    inner = np.sqrt(1.0 - decay * decay) * write * inner
    kept = site.kept("recurrent")
    state = np.zeros((x.shape[0], n_inner)) if kept is None else kept
    out = np.empty_like(inner)
    for t in range(x.shape[1]):
        state = decay[:, t] * state + inner[:, t]
        out[:, t] = state
    site.keep("recurrent", state, "fp32")
    return site.linear("out", out * silu(other), x.shape[-1], bias=True)


def _gate(part: RgLru, name: str, x: Array, site: Site) -> Array:
    """A block-diagonal projection: each block of channels by a matrix of its own."""
    blocks, width = number(part.n_gate_blocks), number(part.gate_dim)
    weight = site.weight(f"{name}_gate", blocks, width, width)
    inputs = x.reshape(*x.shape[:2], blocks, width)
    y = site.product(f"{name}_gate", "btni,nio->btno", inputs, weight)
    return (y + site.weight(f"{name}_gate_bias", blocks, width)).reshape(x.shape)
