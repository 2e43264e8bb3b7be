"""Attention without a softmax, token by token: lightning attention and xLSTM's matrix memory."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts.linear_attention import Lightning, Mlstm
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import run, sigmoid, silu
from txcalc.reference.site import Site, number


@run.register
def _(part: Lightning, x: Array, site: Site) -> Array:
    """arXiv:2401.04658 section 3; gate and norm: arXiv:2501.08313 section 2.2.2."""
    heads, width = number(part.n_heads), number(part.head_dim)
    q, k, v = (silu(site.linear(name, x, heads, width)) for name in ("q", "k", "v"))
    decay = np.exp(-np.arange(1, heads + 1) / heads)[:, None, None]
    kept = site.kept("recurrent")
    state = np.zeros((x.shape[0], heads, width, width)) if kept is None else kept
    out = np.empty_like(v)
    for t in range(x.shape[1]):
        state = decay * state + site.product("scan", "bhk,bhv->bhkv", k[:, t], v[:, t])
        out[:, t] = site.product("scan", "bhk,bhkv->bhv", q[:, t], state)
    site.keep("recurrent", state)
    out = site.norm("norm", out, "rms", axes=2) * sigmoid(site.linear("gate", x, heads, width))
    return site.linear("out", out, x.shape[-1], inputs=2)


@run.register
def _(part: Mlstm, x: Array, site: Site) -> Array:
    """arXiv:2405.04517 section 2.3, equations 19 to 27."""
    heads, lead, bias = number(part.n_heads), x.shape[:2], part.bias
    q, k, v = (
        site.linear(name, x, width, bias=bias).reshape(*lead, heads, -1)
        for name, width in (("q", part.d_qk), ("k", part.d_qk), ("v", part.d_v))
    )
    write, forget = (site.linear(f"{n}_gate", x, heads, bias=True) for n in ("input", "forget"))
    out = _remembered(site, q, k / k.shape[-1] ** 0.5, v, write, -np.logaddexp(0.0, -forget))
    out = site.norm("norm", out, "layer" if bias else "layer_no_bias", axes=2)
    gate = sigmoid(site.linear("gate", x, part.d_v, bias=bias))
    return site.linear("out", out.reshape(*lead, -1) * gate, x.shape[-1], bias=bias)


def _remembered(site: Site, q: Array, k: Array, v: Array, write: Array, forget: Array) -> Array:
    """Values read from the memory, normalised, with the gates' running maximum taken out."""
    kept = {name: site.kept(name) for name in ("memory", "normaliser", "maximum")}
    shapes = {
        "memory": (*k[:, 0].shape, v.shape[-1]), "normaliser": k[:, 0].shape,
        "maximum": write[:, 0].shape,
    }  # fmt: skip
    memory, normaliser, maximum = (
        np.zeros(shapes[name]) if array is None else array for name, array in kept.items()
    )
    out = np.empty_like(v)
    for t in range(v.shape[1]):
        before, maximum = maximum, np.maximum(forget[:, t] + maximum, write[:, t])
        stay = np.exp(forget[:, t] + before - maximum)[..., None]
        new = np.exp(write[:, t] - maximum)[..., None]
        written = site.product("scan", "bhk,bhv->bhkv", k[:, t] * new, v[:, t])
        memory = stay[..., None] * memory + written
        normaliser = stay * normaliser + new * k[:, t]
        length = np.abs(site.product("scan", "bhk,bhk->bh", q[:, t], normaliser))
        read = site.product("scan", "bhk,bhkv->bhv", q[:, t], memory)
        out[:, t] = read / np.maximum(length, np.exp(-maximum))[..., None]
    for name, array in (("memory", memory), ("normaliser", normaliser), ("maximum", maximum)):
        site.keep(name, array, "fp32")
    return out
