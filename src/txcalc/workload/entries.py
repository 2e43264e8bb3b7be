"""Queries and the compressed entries that they meet: one for each complete block of tokens."""

from __future__ import annotations

from txcalc.exact.counting import series
from txcalc.exact.quantity import ONE, TWO, ZERO, Letter, Quantity, defined, least, product, walk


def complete(tokens: Quantity, block: Quantity, cap: Quantity | None) -> Quantity:
    """Blocks that are complete after ``tokens``, of which a query meets ``cap`` at most."""
    whole = tokens // block
    path = block.path if isinstance(block, Letter) else ""
    return defined("entries", whole if cap is None else least(whole, cap), path)


def met(block: Quantity, cap: Quantity | None, first: Quantity, last: Quantity) -> Quantity:
    """Pairs of entries with one query at each position from ``first`` to ``last``."""
    return _met_until(block, cap, last) - _met_until(block, cap, first - ONE)


def met_by_all(block: Quantity, cap: Quantity | None, first: Quantity, last: Quantity) -> Quantity:
    """The same where t queries, at any position, meet what is complete after t tokens."""
    return _met_by_all_until(block, cap, last) - _met_by_all_until(block, cap, first - ONE)


def _is_nothing(last: Quantity) -> bool:
    """Whether no position comes before the first, whatever is asked."""
    return last.value < 1 and not any(isinstance(node, Letter) for node in walk(last))


def _met_until(block: Quantity, cap: Quantity | None, last: Quantity) -> Quantity:
    """``block`` queries meet one entry, as many two, and so on; the rest meet all there are."""
    if _is_nothing(last):
        return ZERO
    n = complete(last, block, cap)
    rest = last - product(n, block) + ONE
    return product(block, series(ZERO, None, ONE, n - ONE)) + product(n, rest)


def _met_by_all_until(block: Quantity, cap: Quantity | None, last: Quantity) -> Quantity:
    """The same, each query position t counted t times."""
    if _is_nothing(last):
        return ZERO
    n = complete(last, block, cap)
    squares, firsts = (series(power, None, ONE, n - ONE) for power in (ONE, ZERO))
    inside = product(block, block, squares) + product(block, block - ONE, firsts) / TWO
    return inside + product(n, series(ZERO, None, product(n, block), last))
