"""The delta rule, token by token: gated by head, or by channel as in Kimi delta attention."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts.delta import GatedDelta
from txcalc.model.parts.kda import KimiDelta
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import refuse, run, sigmoid, silu, softplus
from txcalc.reference.kinds.conv import convolved
from txcalc.reference.site import Site, number


@run.register
def _(part: GatedDelta, x: Array, site: Site) -> Array:
    """arXiv:2412.06464 section 3.1, as in Qwen3-Next's published code."""
    n_k, n_v, d_k, d_v = map(number, (part.n_k_heads, part.n_v_heads, part.k_dim, part.v_dim))
    if n_v % n_k:
        refuse("gated_delta", f"{n_v} value heads, which {n_k} key heads do not divide")
    lead = x.shape[:2]
    made = [
        site.linear(name, x, n, d).reshape(*lead, n * d)
        for name, n, d in (("q", n_k, d_k), ("k", n_k, d_k), ("v", n_v, d_v))
    ]
    mixed = silu(convolved(site, np.concatenate(made, -1), part.d_conv, bias=False))
    q, k, v = np.split(mixed, [n_k * d_k, 2 * n_k * d_k], -1)
    q, k = (np.repeat(_unit(y.reshape(*lead, n_k, d_k)), n_v // n_k, 2) for y in (q, k))
    strength = sigmoid(site.linear("b", x, n_v))
    step = softplus(site.linear("a", x, n_v) + site.weight("dt_bias", n_v))
    decay = np.exp(-np.exp(site.weight("a_log", n_v)) * step)[..., None]
    out = corrected(site, q, k, v.reshape(*lead, n_v, d_v), strength, decay)
    out = site.norm("norm", out, "rms") * silu(site.linear("gate", x, n_v, d_v))
    return site.linear("out", out, x.shape[-1], inputs=2)


@run.register
def _(part: KimiDelta, x: Array, site: Site) -> Array:
    """arXiv:2510.26692 section 3."""
    heads, width, lead = number(part.n_heads), number(part.head_dim), x.shape[:2]
    made = [
        site.linear(name, x, heads, width).reshape(*lead, heads * width) for name in ("q", "k", "v")
    ]
    mixed = silu(convolved(site, np.concatenate(made, -1), part.d_conv, bias=False))
    q, k, v = (y.reshape(*lead, heads, width) for y in np.split(mixed, 3, -1))
    step = softplus(_gated(part, "decay", x, site) + site.weight("dt_bias", heads, width))
    decay = np.exp(-np.exp(site.weight("a_log", heads))[:, None] * step)
    out = corrected(site, _unit(q), _unit(k), v, sigmoid(site.linear("b", x, heads)), decay)
    out = site.norm("norm", out, "rms") * sigmoid(_gated(part, "gate", x, site))
    return site.linear("out", out, x.shape[-1], inputs=2)


def corrected(site: Site, q: Array, k: Array, v: Array, strength: Array, decay: Array) -> Array:
    """Reads the state with the key, writes the correction, and reads it with the query.

    ``q`` and ``k`` are (batch, tokens, heads, d_k), ``v`` of d_v; ``strength`` one a head, and
    ``decay`` one a head or one a channel of the key.
    """
    kept = site.kept("recurrent")
    state = np.zeros((*k.shape[:1], *k.shape[2:], v.shape[-1])) if kept is None else kept
    out = np.empty_like(v)
    for t in range(v.shape[1]):
        state = decay[:, t, ..., None] * state
        stored = site.product("scan", "bhk,bhkv->bhv", k[:, t], state)
        correction = strength[:, t, :, None] * (v[:, t] - stored)
        state = state + site.product("scan", "bhk,bhv->bhkv", k[:, t], correction)
        out[:, t] = site.product("scan", "bhk,bhkv->bhv", q[:, t], state)
    site.keep("recurrent", state, "fp32")
    return out


def _gated(part: KimiDelta, name: str, x: Array, site: Site) -> Array:
    """A projection to every channel, by way of a rank where there is one."""
    if part.gate_rank is None:
        return site.linear(name, x, part.n_heads, part.head_dim)
    down = site.linear(f"{name}_down", x, part.gate_rank)
    return site.linear(f"{name}_up", down, part.n_heads, part.head_dim)


def _unit(x: Array) -> Array:
    """Queries or keys of length 1."""
    y: Array = x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)
    return y
