"""How many keys a query attends to, query by query and key by key."""

from __future__ import annotations

from tests.support.counting.rows import Reach


def visible(query: int, tokens: int, reach: Reach, *, both_sides: bool) -> int:
    """Keys that a mask leaves to the query at a place, counted from 0."""
    if reach.block is not None:
        ends = range(reach.block - 1, tokens, reach.block)
        complete = sum(end <= query for end in ends)
        return complete if reach.most is None else min(complete, reach.most)
    return sum(_sees(query, key, reach, both_sides=both_sides) for key in range(tokens))


def _sees(query: int, key: int, reach: Reach, *, both_sides: bool) -> bool:
    if both_sides:
        return reach.window is None or abs(query - key) <= (reach.window - 1) // 2
    if key > query:
        return False
    if reach.chunk is not None:
        return key // reach.chunk == query // reach.chunk
    return reach.window is None or query - key < reach.window


def in_bulk(tokens: int, reach: Reach) -> int:
    """Keys where every query attends to as many as any may."""
    if reach.block is not None:
        complete = len(range(reach.block - 1, tokens, reach.block))
        return complete if reach.most is None else min(complete, reach.most)
    bound = reach.window or reach.chunk
    return tokens if bound is None else min(tokens, bound)


def pairs(scores: str, tokens: int, reach: Reach, *, both_sides: bool = False) -> int:
    """Query-key pairs of a whole pass over one sequence."""
    found = 0
    for query in range(tokens):
        match scores:
            case "full":
                found += in_bulk(tokens, reach)
            case "causal":
                found += visible(query, tokens, reach, both_sides=both_sides)
            case "square":
                found += in_bulk(tokens, Reach(block=reach.block))
    return found


def step(scores: str, ctx: int, reach: Reach) -> int:
    """Keys of the newest of ``ctx`` tokens."""
    match scores:
        case "none":
            return 0
        case "causal":
            return visible(ctx - 1, ctx, reach, both_sides=False)
        case _:
            return in_bulk(ctx, reach)
