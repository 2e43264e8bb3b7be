"""Short causal convolutions, one filter a channel."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts.conv import ShortConv
from txcalc.reference.cache import Fmt
from txcalc.reference.counter import Array
from txcalc.reference.kinds.base import run
from txcalc.reference.site import Site, Size, number


def convolved(site: Site, x: Array, taps: Size, *, bias: bool, kept: Size | None = None) -> Array:
    """Each channel of (batch, tokens, channels) under its filter.

    The last ``kept`` inputs stay for the next tokens, as many as there are taps where left out.
    """
    channels = x.shape[-1]
    y = filtered(site, "conv", x, site.weight("conv", taps, channels), kept or taps)
    return y + site.weight("conv_bias", channels) if bias else y


def filtered(
    site: Site, name: str, x: Array, filters: Array, kept: Size, fmt: Fmt = "cache"
) -> Array:
    """The same under filters (taps, channels); inputs before the first token are 0."""
    batch, tokens, channels = x.shape
    before = site.kept(name)
    if before is None:
        before = np.zeros((batch, channels, number(kept)))
    every = np.concatenate([before.swapaxes(1, 2), x], 1)
    site.keep(name, every[:, every.shape[1] - number(kept) :].swapaxes(1, 2), fmt)
    last = np.arange(every.shape[1] - tokens, every.shape[1])
    inputs = every[:, last[:, None] - np.arange(len(filters))[::-1]]
    return site.product(name, "btkc,kc->btc", inputs, filters)


@run.register
def _(part: ShortConv, x: Array, site: Site) -> Array:
    """C * conv(B * x), LFM2: arXiv:2511.23404."""
    width = x.shape[-1]
    b, c, inner = np.split(site.linear("in", x, 3 * width, bias=part.bias), 3, -1)
    y = c * convolved(site, b * inner, part.d_conv, bias=part.bias)
    return site.linear("out", y, width, bias=part.bias)
