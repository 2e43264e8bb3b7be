"""Alternating updates: a layer computes one copy of the stream; the others are predicted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from txcalc.model.parts.altup import AltUp
from txcalc.reference.counter import Array
from txcalc.reference.site import Site, number


def alternated(part: AltUp, copies: Array, layer: Callable[[Array], Array], site: Site) -> Array:
    """The copies (batch, tokens, n_copies, d_model) after a layer on the first of them.

    arXiv:2301.13310 algorithm 1, with coefficients by token as in Gemma 3n's published code.
    """
    n = number(part.n_copies)
    by_token = site.linear("predict", _routed(part, copies[..., 0, :], site), n, n)
    predicted = copies + site.product("mix", "btmn,btnd->btmd", by_token, copies)
    active = predicted[..., 0, :]
    computed = layer(active)
    corrected = site.linear("correct", _routed(part, computed, site), n) + 1.0
    out = predicted + np.multiply(corrected[..., None], (computed - active)[..., None, :])
    out[..., 0, :] *= site.weight("scale", copies.shape[-1])
    return out


def _routed(part: AltUp, x: Array, site: Site) -> Array:
    """A token's modalities, by which its coefficients are made."""
    y: Array = np.tanh(site.linear("router", site.norm("router_norm", x, "rms"), part.n_copies))
    return y
