"""Mixture of attention heads: each token's queries are made by the experts that it uses."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts.moa import MixtureOfAttention
from txcalc.reference.attend import attend
from txcalc.reference.counter import Array, Ids
from txcalc.reference.kinds.base import run, sigmoid
from txcalc.reference.kinds.mixture import picked
from txcalc.reference.site import Site, number


@run.register
def _(part: MixtureOfAttention, x: Array, site: Site) -> Array:
    """arXiv:2210.05144 section 3.1; one bias: arXiv:2404.07413 section 2.2."""
    d_model, heads, width = x.shape[-1], number(part.n_kv_heads), number(part.head_dim)
    scores = site.linear("router", x, part.n_experts).reshape(-1, number(part.n_experts))
    best = picked(scores, number(part.top_k))
    chosen = np.repeat(x.reshape(-1, 1, d_model), best.shape[1], 1)
    q = _by_expert("q", part, chosen, best, (heads, width), site)
    q = np.moveaxis(q.reshape(*x.shape[:2], -1, heads, width), 2, 3)
    k, v = (site.linear(name, x, heads, width) for name in ("k", "v"))
    k, v = site.extended("keys", site.places.rotated(k)), site.extended("values", v)
    q = site.places.rotated(q.reshape(*x.shape[:2], -1, width))
    out = attend(site, "scores", q, k, v).reshape(*x.shape[:2], heads, -1, width)
    out = np.moveaxis(out, 3, 2).reshape(-1, best.shape[1], heads, width)
    made = _by_expert("o", part, out, best, (d_model,), site)
    shares = sigmoid(np.take_along_axis(scores, best, -1))
    y: Array = (shares[..., None] * made).sum(1).reshape(x.shape)
    return y + site.weight("o_bias", d_model) if part.bias else y


def _by_expert(
    name: str, part: MixtureOfAttention, x: Array, best: Ids, outputs: tuple[int, ...], site: Site
) -> Array:
    """What (tokens, top_k, ...) becomes under the matrices of the experts that each uses."""
    weight = site.weight(name, part.n_experts, *x.shape[2:], *outputs)
    out = np.empty((*best.shape, *outputs))
    for expert in range(len(weight)):
        rows = best == expert
        if rows.any():
            out[rows] = site.counter.linear(site.address(name), x[rows], weight[expert], x.ndim - 2)
    return out
