"""Tensors that no part knows, run as they are declared: each as one product of its own.

What a description does not say, where such a tensor stands, changes no count: the stream's channels
are repeated or cut to what a matrix reads, and what it writes is added to the stream.
"""

from __future__ import annotations

import numpy as np

from txcalc.exact.quantity import ONE
from txcalc.model.parts.tensor import Tensor
from txcalc.reference.counter import Array, Ids
from txcalc.reference.kinds.base import refuse
from txcalc.reference.kinds.conv import filtered
from txcalc.reference.site import Site, number, sizes

_SHARE = 0.1
"""How much of a tensor's output is added, so that the stream stays what it is."""


def run_tensor(tensor: Tensor, name: str, x: Array, ids: Ids, site: Site) -> Array:
    """``x`` (batch, tokens, d_model) after a declared tensor; ``ids`` are the tokens."""
    width, copies, dims = x.shape[-1], number(tensor.copies), sizes(*tensor.dims)
    used = number(tensor.copies if tensor.used is None else tensor.used)
    match tensor.use:
        case "matmul":
            weight = _weight(tensor, name, site, (*dims[1:], dims[0])).reshape(copies, -1, dims[0])
            for i in range(used * number(tensor.repeats)):
                inputs = _fitted(x, weight.shape[1])
                y = site.counter.linear(site.address(name), inputs, weight[i % used], 1)
                x = x + _SHARE * _fitted(y, width)
        case "conv":
            return x + _SHARE * _filtered(tensor, name, x, site)
        case "lookup":
            table = _weight(tensor, name, site, dims).reshape(copies * dims[0], -1)
            x = x + _SHARE * _fitted(table[ids % len(table)], width)
        case "norm" | "elementwise" | "bias" | "buffer":
            x = x + _SHARE * _fitted(_weight(tensor, name, site, dims).ravel(), width)
    return x


def _filtered(tensor: Tensor, name: str, x: Array, site: Site) -> Array:
    """A filter for each channel, those of several copies side by side."""
    if number(tensor.repeats) > 1 or tensor.used not in (None, tensor.copies):
        refuse("tensor", "use conv, of which a token uses some copies or each several times")
    channels, taps = sizes(*tensor.dims)
    filters = _weight(tensor, name, site, (taps, channels)).reshape(-1, taps, channels)
    wide = filters.swapaxes(0, 1).reshape(taps, -1)
    y = filtered(site, name, _fitted(x, wide.shape[1]), wide, taps, tensor.fmt or "cache")
    return _fitted(y, x.shape[-1])


def _weight(tensor: Tensor, name: str, site: Site, shape: tuple[int, ...]) -> Array:
    """The stored tensor, all copies of it."""
    copies = number(tensor.copies)
    stored = site.buffer if tensor.use == "buffer" else site.weight
    return stored(name, *(shape if tensor.copies is ONE else (copies, *shape)))


def _fitted(x: Array, width: int) -> Array:
    """The last axis repeated or cut to a width."""
    return x[..., np.arange(width) % x.shape[-1]]
