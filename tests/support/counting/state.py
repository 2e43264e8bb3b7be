"""What a cache keeps, put in token by token."""

from __future__ import annotations

from collections import deque
from fractions import Fraction

from tests.support.counting.rows import Kept


def held(kept: Kept, tokens: int, source: int) -> int:
    """Elements after so many tokens."""
    if kept.span == "fixed":
        return kept.width
    if kept.span == "source":
        return sum(kept.width for _ in range(source))
    cache: deque[int] = deque(maxlen=kept.window)
    block: list[int] = []
    for token in range(tokens):
        block.append(token)
        if kept.block is None:
            cache.append(token)
        elif len(block) == kept.block:
            cache.append(token)
            block.clear()
    return kept.width * len(block if kept.open else cache)


def parts(kept: Kept, ctx: int, source: int) -> dict[str, int | Fraction]:
    """Elements by part; what tokens add is their mean over a block, of a token the first ones'."""
    sequence = held(kept, ctx, source)
    period = kept.block or 1
    own = kept.span == "own"
    return {
        "token": Fraction(held(kept, period, source) - held(kept, 0, source), period),
        "growth": Fraction(held(kept, ctx + period, source) - sequence, period),
        "fixed": sequence if kept.span == "fixed" else 0,
        "cross": sequence if kept.span == "source" else 0,
        "sequence": sequence,
    } | ({} if own else {"token": 0, "growth": 0})
