"""Quantities that count: sums over a range, layers of a kind, experts that tokens reach."""

from __future__ import annotations

from fractions import Fraction

from txcalc.exact.quantity import ONE, ZERO, Number, Quantity, exact


def series(power: Quantity, cap: Quantity | None, low: Quantity, high: Quantity) -> Quantity:
    """Sum of ``t^power * min(t, cap)`` (of ``t^(power + 1)`` without a cap) for t = low .. high.

    ``power`` is the constant 0 or 1; an empty range sums to 0.
    """
    limit = None if cap is None else int(cap.value)
    value = series_sum(int(power.value), limit, int(low.value), int(high.value))
    args = (power, low, high) if cap is None else (power, low, high, cap)
    return Quantity(value, "", "series", args)


def series_sum(power: int, cap: int | None, low: int, high: int) -> int:
    """The number that :func:`series` stands for, in closed form."""
    if high < low:
        return 0
    up_to = _sum_of_squares if power else _sum_of_firsts
    return up_to(high, cap) - up_to(low - 1, cap)


def _sum_of_firsts(n: int, cap: int | None) -> int:
    m = n if cap is None else min(n, cap)
    return m * (m + 1) // 2 + (n - m) * m


def _sum_of_squares(n: int, cap: int | None) -> int:
    m = n if cap is None else min(n, cap)
    return m * (m + 1) * (2 * m + 1) // 6 + m * (n * (n + 1) - m * (m + 1)) // 2


def tally(n: Quantity, pattern: tuple[bool, ...]) -> Quantity:
    """How many places of ``pattern``, repeated endlessly, are true among its first ``n``."""
    places = tuple(ONE if place else ZERO for place in pattern)
    return Quantity(true_places(int(n.value), *pattern), "", "tally", (n, *places))


def true_places(n: int, *pattern: int) -> int:
    """The number that :func:`tally` stands for."""
    whole, rest = divmod(n, len(pattern))
    return whole * sum(pattern) + sum(pattern[:rest])


def distinct(n_experts: Quantity, top_k: Quantity, tokens: Quantity) -> Quantity:
    """Expected number of experts that ``tokens`` tokens reach when each picks ``top_k`` evenly.

    E * (1 - (1 - k/E)^n), the one estimate there is: 40 significant digits of it.
    """
    value = expected_distinct(int(n_experts.value), top_k.value, int(tokens.value))
    return Quantity(value, "", "distinct", (n_experts, top_k, tokens))


def expected_distinct(n_experts: int, top_k: Number, tokens: int) -> Number:
    """The number that :func:`distinct` stands for; a mean of experts picked need not be whole."""
    from decimal import Context, Decimal

    digits = Context(prec=60)
    experts, unused = Decimal(n_experts), 1 - Fraction(top_k) / n_experts
    missed = digits.divide(Decimal(unused.numerator), Decimal(unused.denominator))
    left = digits.power(missed, tokens) if missed else Decimal(0)
    reached = digits.multiply(experts, digits.subtract(Decimal(1), left))
    return exact(Fraction(Context(prec=40).plus(reached)))
