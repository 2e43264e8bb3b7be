"""Selective state spaces: Mamba and Mamba-2, token by token."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts.mamba import Mamba1, Mamba2
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import refuse, run, silu, softplus
from txcalc.reference.kinds.conv import convolved
from txcalc.reference.site import Site, number


@run.register
def _(part: Mamba1, x: Array, site: Site) -> Array:
    """arXiv:2312.00752 section 3.2, algorithm 2."""
    n_inner, n_state, rank = map(number, (part.d_inner, part.d_state, part.dt_rank))
    inner, gate = np.split(site.linear("in", x, 2 * n_inner, bias=part.bias), 2, -1)
    inner = silu(convolved(site, inner, part.d_conv, bias=part.conv_bias))
    dt, b, c = np.split(site.linear("x", inner, rank + 2 * n_state), [rank, rank + n_state], -1)
    if part.inner_norms:
        dt, b, c = (
            site.norm(name, y, "rms") for name, y in (("dt_norm", dt), ("b_norm", b), ("c_norm", c))
        )
    step = softplus(site.linear("dt", dt, n_inner, bias=True))
    decay = -np.exp(site.weight("a_log", n_inner, n_state))
    out = np.empty_like(inner)
    state = _recurrent(site, x.shape[0], n_inner, n_state)
    for t in range(x.shape[1]):
        written = site.product("scan", "bi,bs->bis", step[:, t] * inner[:, t], b[:, t])
        state = np.exp(step[:, t, :, None] * decay) * state + written
        out[:, t] = site.product("scan", "bis,bs->bi", state, c[:, t])
    site.keep("recurrent", state, "fp32")
    out = (out + site.weight("d", n_inner) * inner) * silu(gate)
    return site.linear("out", out, x.shape[-1], bias=part.bias)


@run.register
def _(part: Mamba2, x: Array, site: Site) -> Array:
    """arXiv:2405.21060 section 7; the published code's step."""
    heads, width = number(part.n_ssm_heads), number(part.ssm_head_dim)
    groups, n_state, n_inner = number(part.n_groups), number(part.d_state), heads * width
    if heads % groups:
        refuse("mamba2", f"{heads} heads, which {groups} groups do not divide")
    n_conv = n_inner + 2 * groups * n_state
    projected = site.linear("in", x, n_inner + n_conv + heads, bias=_biased(part, "in"))
    gate, mixed, dt = np.split(projected, [n_inner, n_inner + n_conv], -1)
    mixed = silu(convolved(site, mixed, part.d_conv, bias=part.conv_bias))
    inner, b, c = np.split(mixed, [n_inner, n_inner + groups * n_state], -1)
    lead = x.shape[:2]
    inner = inner.reshape(*lead, heads, width)
    b, c = (np.repeat(y.reshape(*lead, groups, n_state), heads // groups, 2) for y in (b, c))
    step = softplus(dt + site.weight("dt_bias", heads))
    decay = np.exp(-step * np.exp(site.weight("a_log", heads)))
    out = np.empty_like(inner)
    state = _recurrent(site, x.shape[0], n_inner, n_state).reshape(-1, heads, width, n_state)
    for t in range(x.shape[1]):
        written = site.product(
            "scan", "bhw,bhs->bhws", step[:, t, :, None] * inner[:, t], b[:, t]
        )  # fmt: skip
        state = decay[:, t, :, None, None] * state + written
        out[:, t] = site.product("scan", "bhws,bhs->bhw", state, c[:, t])
    site.keep("recurrent", state.reshape(-1, n_inner, n_state), "fp32")
    out = out + site.weight("d", heads)[:, None] * inner
    flat = out.reshape(*lead, n_inner) * silu(gate)
    flat = site.norm("norm", flat, "rms") if part.gated_norm else flat
    flat = flat.reshape(*lead, heads, width)
    return site.linear("out", flat, x.shape[-1], bias=_biased(part, "out"), inputs=2)


def _biased(part: Mamba2, projection: str) -> bool:
    return part.bias if isinstance(part.bias, bool) else projection in part.bias


def _recurrent(site: Site, *shape: int) -> Array:
    """The state before the first token, or as the last one left it."""
    kept = site.kept("recurrent")
    return np.zeros(shape) if kept is None else kept
