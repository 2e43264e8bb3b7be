"""From logits to the probabilities that a next token is drawn with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from txcalc.errors import OptionError
from txcalc.reference.counter import Array, Ids


def probabilities(
    logits: Sequence[float] | Array,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Array:
    """Probabilities of the candidates: temperature first, then ``top_k``, then ``top_p``.

    A temperature of 0 takes the best candidate.  ``top_p`` keeps the least set whose probabilities
    reach it (arXiv:1904.09751 section 3.1).  Of equal candidates the first is the better.

    Raises:
        OptionError: no logits or one that is no number, or a setting that means nothing.
    """
    scores = np.asarray(logits, dtype=np.float64)
    _check(scores, temperature, top_k, top_p)
    order: Ids = np.argsort(-scores, kind="stable")
    if temperature == 0:
        return _only(scores, order[:1], np.ones(1))
    powers = np.exp((scores[order] - scores[order[0]]) / temperature)[:top_k]
    shares = powers / powers.sum()
    if top_p is not None and top_p < 1:
        before = np.cumsum(shares) - shares
        shares = shares[before < top_p]
    return _only(scores, order[: len(shares)], shares / shares.sum())


def _only(scores: Array, kept: Ids, shares: Array) -> Array:
    """The shares of the candidates that are kept, and none of the others."""
    out = np.zeros_like(scores)
    out[kept] = shares
    return out


def _check(scores: Array, temperature: float, top_k: int | None, top_p: float | None) -> None:
    if scores.ndim != 1 or not scores.size:
        raise OptionError(f"logits of shape {scores.shape}: one for each candidate is needed")
    if np.isnan(scores).any() or np.isposinf(scores).any() or np.isneginf(scores).all():
        raise OptionError("logits that are no numbers: each has to be one, and one finite")
    if not (math.isfinite(temperature) and temperature >= 0):
        raise OptionError(f"temperature {temperature}: 0 or more is needed")
    if top_k is not None and top_k < 1:
        raise OptionError(f"top_k {top_k}: at least 1 candidate is kept")
    if top_p is not None and not 0 < top_p <= 1:
        raise OptionError(f"top_p {top_p}: a share above 0, at most 1, is needed")
