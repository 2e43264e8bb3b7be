"""Quantities that count: sums over a range, layers of a kind, experts that tokens reach."""

from __future__ import annotations

from txcalc.exact.operations import DISTINCT, SERIES, TALLY
from txcalc.exact.quantity import ONE, ZERO, Quantity, applied


def series(power: Quantity, cap: Quantity | None, low: Quantity, high: Quantity) -> Quantity:
    """Sum of ``t^power * min(t, cap)`` (of ``t^(power + 1)`` without a cap) for t = low .. high.

    ``power`` is the constant 0 or 1; an empty range sums to 0.
    """
    return applied(SERIES, "", power, low, high, *(() if cap is None else (cap,)))


def tally(n: Quantity, pattern: tuple[bool, ...]) -> Quantity:
    """How many places of ``pattern``, repeated endlessly, are true among its first ``n``."""
    return applied(TALLY, "", n, *(ONE if place else ZERO for place in pattern))


def distinct(n_experts: Quantity, top_k: Quantity, tokens: Quantity) -> Quantity:
    """Expected number of experts that ``tokens`` tokens reach when each picks ``top_k`` evenly.

    E * (1 - (1 - k/E)^n), the one estimate there is: 40 significant digits of it.
    """
    return applied(DISTINCT, "", n_experts, top_k, tokens)
