"""The one attention: queries with keys, and probabilities with values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from txcalc.reference.counter import Array, Ids
from txcalc.reference.site import Site, Size, number

Mask = NDArray[np.bool_]


def attend(
    site: Site,
    name: str,
    q: Array,
    k: Array,
    v: Array,
    *,
    window: Size | None = None,
    chunk: Size | None = None,
    sinks: Array | None = None,
    scale: float | None = None,
) -> Array:
    """Outputs of the heads, (batch, queries, heads, d_v).

    ``q`` is (batch, queries, heads, d_qk), ``k`` and ``v`` are (batch, keys, kv heads, width), the
    last of them the last query's own.
    """
    last = int(site.places.queries[-1])
    keys: Ids = np.arange(last + 1 - k.shape[1], last + 1)
    mask = _visible(site, keys, window, chunk)
    groups = _taken(site, mask, chunk if window is None else window, last + 1)
    bias = site.places.bias(keys, q.shape[2])
    return _attended(site, name, q, k, v, mask, groups, bias, sinks, scale)


def attend_source(
    site: Site, name: str, q: Array, k: Array, v: Array, *, sinks: Array | None = None
) -> Array:
    """The same with the encoder's keys, all of which every query attends to."""
    every: Ids = np.arange(k.shape[1])
    mask = np.ones((q.shape[1], k.shape[1]), dtype=bool)
    groups = iter([(np.arange(q.shape[1]), every)])
    return _attended(site, name, q, k, v, mask, groups, sinks=sinks)


def _attended(
    site: Site,
    name: str,
    q: Array,
    k: Array,
    v: Array,
    mask: Mask,
    groups: Iterator[tuple[Ids, Ids]],
    bias: Array | None = None,
    sinks: Array | None = None,
    scale: float | None = None,
) -> Array:
    """Groups of queries, each with the keys that it is multiplied with."""
    heads = q.shape[2]
    k, v = (np.repeat(y, heads // y.shape[2], 2) for y in (k, v))
    q = q * (scale or q.shape[-1] ** -0.5)
    out = np.zeros((*q.shape[:3], v.shape[-1]))
    for rows, at in groups:
        scores = site.product(name, "bthd,bkhd->bhtk", q[:, rows], k[:, at])
        if bias is not None:
            scores = scores + bias[:, rows][:, :, at]
        scores = np.where(mask[np.ix_(rows, at)], scores, -np.inf)
        shares = _softmax(scores, sinks)
        out[:, rows] = site.product(name, "bhtk,bkhv->bthv", shares, v[:, at])
    return out


def _softmax(scores: Array, sinks: Array | None) -> Array:
    """Probabilities over keys; a sink takes a share of its own and gives nothing."""
    sink = np.array(-np.inf) if sinks is None else sinks[:, None, None]
    top = np.maximum(scores.max(-1, keepdims=True), sink)
    powers = np.exp(scores - top)
    shares: Array = powers / (powers.sum(-1, keepdims=True) + np.exp(sink - top))
    return shares


def _visible(site: Site, keys: Ids, window: Size | None, chunk: Size | None) -> Mask:
    """Which keys each query attends to."""
    queries, places = site.places.queries[:, None], keys[None, :]
    if site.places.both_ways:
        side = None if window is None else (number(window) - 1) // 2
        every = np.ones((len(queries), len(keys)), dtype=bool)
        return every if side is None else np.abs(queries - places) <= side
    mask: Mask = places <= queries
    if window is not None:
        mask &= places > queries - number(window)
    if chunk is not None:
        mask &= places // number(chunk) == queries // number(chunk)
    return mask


def _taken(site: Site, mask: Mask, size: Size | None, length: int) -> Iterator[tuple[Ids, Ids]]:
    """Queries with the keys that they are multiplied with: those visible, or more, masked.

    ``square`` takes every key, ``full`` a band of as many as a query attends to at most.
    """
    queries, keys = mask.shape
    wide = length if size is None else min(length, number(size))
    if site.how.scores == "square" or (site.how.scores == "full" and wide == length == keys):
        yield np.arange(queries), np.arange(keys)
        return
    for i in range(queries):
        visible: Ids = np.flatnonzero(mask[i])
        if site.how.scores == "full":
            start = min(int(visible[0]), keys - wide)
            first = start if visible[-1] < start + wide else int(visible[-1]) - wide + 1
            visible = np.arange(first, first + wide)
        yield np.array([i]), visible
