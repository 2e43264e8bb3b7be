"""Every kind of reach against a list of the keys that each query attends to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from txcalc.exact.quantity import Letter, Quantity, const
from txcalc.workload.reach import ALL, FIXED, Attends, Chunk, Entries, Kept, Open, Window

Sees = Callable[[int, int], bool]
"""Whether a query at a position attends to a key at a position, both from 1."""


def entries(block: int, most: int | None) -> Callable[[int], int]:
    return lambda t: min(t // block, t if most is None else most)


def keys_before(sees: Sees) -> Callable[[int], int]:
    """Keys up to a position that its query attends to."""
    return lambda t: sum(sees(t, key) for key in range(1, t + 1))


WINDOW = Window(const(4))
CHUNK = Chunk(const(4))
VISIBLE: list[tuple[Attends, Callable[[int], int]]] = [
    (ALL, keys_before(lambda query, key: True)),
    (Window(const(1)), keys_before(lambda query, key: query == key)),
    (WINDOW, keys_before(lambda query, key: query - key < 4)),
    (Window(const(7)), keys_before(lambda query, key: query - key < 7)),
    (CHUNK, keys_before(lambda query, key: (query - 1) // 4 == (key - 1) // 4)),
    *(
        (Entries(const(block), None if most is None else const(most)), entries(block, most))
        for block in (1, 3, 4)
        for most in (None, 1, 2, 100)
    ),
]


def number(quantity: Quantity) -> object:
    return quantity.value


@pytest.mark.parametrize(("reach", "visible"), VISIBLE)
@pytest.mark.parametrize("ctx", [1, 2, 4, 5, 8, 13])
def test_a_mask_leaves_the_keys_that_a_list_of_pairs_has(
    reach: Attends, visible: Callable[[int], int], ctx: int
) -> None:
    assert number(reach.masked(const(ctx))) == visible(ctx)
    pairs = sum(visible(t) for t in range(1, ctx + 1))
    assert number(reach.mean(const(ctx)) * const(ctx)) == pairs


@pytest.mark.parametrize(("reach", "visible"), VISIBLE)
@pytest.mark.parametrize(("first", "last"), [(1, 9), (2, 9), (5, 10), (9, 33), (4, 4)])
def test_steps_are_their_sum_one_by_one(
    reach: Attends, visible: Callable[[int], int], first: int, last: int
) -> None:
    bounds = const(first), const(last)
    steps = range(first, last + 1)
    one = {t: number(reach.one(const(t))) for t in steps}
    assert number(reach.steps(*bounds)) == sum(one.values())
    assert number(reach.recomputed(*bounds)) == sum(t * one[t] for t in steps)
    if not isinstance(reach, Chunk):  # without a mask it runs as a window
        assert one == {t: visible(t) for t in steps}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("length", [1, 2, 5, 9, 16])
def test_a_window_on_both_sides_is_halved(size: int, length: int) -> None:
    """sliding_window of an encoder: (size - 1) // 2 tokens on either side and the query itself."""
    side = (size - 1) // 2
    near = [
        (query, key) for query in range(length) for key in range(length) if abs(query - key) <= side
    ]
    reach = Window(const(size))
    assert number(reach.both_ways(const(length)) * const(length)) == len(near)


@pytest.mark.parametrize("tokens", [1, 3, 4, 6, 11])
def test_a_cache_keeps_what_later_queries_attend_to(tokens: int) -> None:
    """Tokens written one by one, those out of reach of the next query dropped."""
    kept: dict[str, list[int]] = {"all": [], "window": [], "open": [], "entries": []}
    for t in range(1, tokens + 1):
        kept["all"].append(t)
        kept["window"] = [*kept["window"], t][-4:]
        kept["open"].append(t)
        if len(kept["open"]) == 3:
            kept["entries"].append(t // 3)
            kept["open"] = []
    reaches: dict[str, Kept] = {
        "all": ALL, "window": WINDOW, "open": Open(const(3)), "entries": Entries(const(3)),
    }  # fmt: skip
    for name, reach in reaches.items():
        assert number(reach.kept(const(tokens))) == len(kept[name]), name
    assert number(FIXED.kept(const(tokens))) == 1


@pytest.mark.parametrize("reach", [Entries(const(3)), Open(const(3))])
@pytest.mark.parametrize("tokens", [2, 4, 9])
def test_growth_is_the_mean_over_a_block(reach: Kept, tokens: int) -> None:
    over_a_block = reach.kept(const(tokens + 3)) - reach.kept(const(tokens))
    assert reach.growth(const(tokens)) * const(3) == over_a_block


@pytest.mark.parametrize("reach", [ALL, WINDOW, CHUNK])
@pytest.mark.parametrize("tokens", [1, 3, 4, 9])
def test_growth_is_what_one_more_token_adds(reach: Kept, tokens: int) -> None:
    assert reach.growth(const(tokens)) == reach.kept(const(tokens + 1)) - reach.kept(const(tokens))


@pytest.mark.parametrize(("reach", "name"), [(WINDOW, "keys"), (Entries(const(3)), "entries")])
def test_a_formula_calls_what_a_query_attends_to_by_its_name(reach: Attends, name: str) -> None:
    attended = reach.one(const(10))
    assert isinstance(attended, Letter)
    assert attended.name == name
