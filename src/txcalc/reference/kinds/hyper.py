"""Hyper-connections: several streams, read and written by weights that their token makes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from txcalc.model.parts.hyper import HyperConnections
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import sigmoid
from txcalc.reference.site import Site, number


def connected(
    part: HyperConnections, name: str, streams: Array, branch: Callable[[Array], Array], site: Site
) -> Array:
    """The streams (batch, tokens, n_streams, d_model) after one branch: arXiv:2409.19606 section 2.

    Where they are mixed, arXiv:2512.24880 section 4, by a matrix beside the branch.
    """
    n = number(part.n_streams)
    parts = 2 + n if part.mixed else 2
    made = site.linear(f"{name}.weights", streams, parts * n, bias=True, inputs=2)
    scales = site.weight(f"{name}.scales", 3 if part.mixed else 2)
    read, write = sigmoid(scales[0] * made[..., :n]), sigmoid(scales[1] * made[..., n : 2 * n])
    out = branch((read[..., None] * streams).sum(-2))
    if part.mixed:
        mix = sigmoid(scales[2] * made[..., 2 * n :]).reshape(*made.shape[:-1], n, n)
        streams = site.product(
            f"{name}.mix", "btmn,btnd->btmd", mix / mix.sum(-1, keepdims=True), streams
        )
    written: Array = streams + np.multiply(write[..., None], out[..., None, :])
    return written
