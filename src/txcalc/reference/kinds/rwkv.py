"""RWKV-4's time mixing and channel mixing, token by token."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from txcalc.model.parts.rwkv import ChannelMixing, TimeMixing
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import relu, run, sigmoid
from txcalc.reference.site import Site, number


@run.register
def _(part: TimeMixing, x: Array, site: Site) -> Array:
    """arXiv:2305.13048 section 3.1, equations 11 to 16, in the stable form of its appendix D."""
    inner = number(part.d_inner)
    k, v, gate = (
        site.linear(name, y, inner) for name, y in _mixed(x, site, "k", "v", "receptance")
    )
    decay, bonus = -np.exp(site.weight("decay", inner)), site.weight("bonus", inner)
    kept = site.kept("recurrent")
    if kept is None:
        kept = np.zeros((len(x), 3, inner))
        kept[:, 2] = -1e30
    above, below, top = kept[:, 0], kept[:, 1], kept[:, 2]
    out = np.empty_like(v)
    for t in range(x.shape[1]):
        most = np.maximum(top, bonus + k[:, t])
        past, now = np.exp(top - most), np.exp(bonus + k[:, t] - most)
        out[:, t] = (past * above + now * v[:, t]) / (past * below + now)
        most = np.maximum(top + decay, k[:, t])
        past, now = np.exp(top + decay - most), np.exp(k[:, t] - most)
        above, below, top = past * above + now * v[:, t], past * below + now, most
    site.keep("recurrent", np.stack([above, below, top], 1), "fp32")
    return site.linear("out", sigmoid(gate) * out, x.shape[-1])


@run.register
def _(part: ChannelMixing, x: Array, site: Site) -> Array:
    """arXiv:2305.13048 section 3.1, equations 17 and 18: a plain FFN behind a gate."""
    (_, for_up), (_, for_gate) = _mixed(x, site, "up", "receptance")
    hidden = relu(site.linear("up", for_up, part.d_ff)) ** 2
    gate = sigmoid(site.linear("receptance", for_gate, x.shape[-1]))
    return gate * site.linear("down", hidden, x.shape[-1])


def _mixed(x: Array, site: Site, *names: str) -> Iterator[tuple[str, Array]]:
    """Each token with the one before it, by a share for each channel and projection."""
    kept = site.kept("shift")
    first = np.zeros_like(x[:, :1]) if kept is None else kept[:, None]
    before = np.concatenate([first, x[:, :-1]], 1)
    site.keep("shift", x[:, -1])
    for name in names:
        share = site.weight(f"mix_{name}", x.shape[-1])
        yield name, x * share + before * (1.0 - share)
