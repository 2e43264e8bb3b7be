"""What the rows of a pass read and write: weights, inputs and outputs, state."""

from __future__ import annotations

from collections.abc import Iterable

from txcalc.accounts.fold import multiplied, per_pair
from txcalc.accounts.kvcache import CacheFormats, Part, kept
from txcalc.accounts.storage import Storage
from txcalc.exact.counting import distinct
from txcalc.exact.quantity import Quantity, product, total
from txcalc.model.model import Row
from txcalc.model.rows import Op, Scan, State, Weight
from txcalc.workload.passes import Pass, Workload
from txcalc.workload.reach import Fixed


def read(row: Row, given: Pass, storage: Storage) -> Quantity | None:
    """Bytes of a weight that a pass multiplies, read once: of experts those it reaches."""
    weight = row.declared
    if not isinstance(weight, Weight) or weight.use != "matmul":
        return None
    tokens = multiplied(weight, given)
    if not tokens.value:
        return None
    if weight.used is weight.copies:
        return storage.copies(row, weight.copies)
    return storage.copies(row, distinct(weight.copies, weight.used, tokens))


def passed(row: Row, given: Pass) -> Quantity | None:
    """Elements that a product reads and writes beside weights, cache and scores."""
    match row.declared:
        case Weight(use="matmul") as weight:
            return product(multiplied(weight, given), weight.moved)
        case Op() as op:
            return product(given.tokens, per_pair(op, given))
        case State() as state if row.given == "encoder" and not isinstance(state.reach, Fixed):
            return product(given.tokens, state.width)
        case Weight() | Scan() | State():
            return None


def of_state(states: Iterable[State], workload: Workload, formats: CacheFormats) -> Quantity:
    """Bytes of one sequence's state that a pass over one layer reads and adds.

    What is kept at the end is read once.  A step adds a token and rewrites fixed states; a prefill
    adds all tokens, and the encoder's keys and values.
    """
    states = list(states)
    added: list[Part] = ["token", "fixed"]
    if workload.phase == "prefill":
        added.append("cross")
    moved = [formats.bytes_of(kept("sequence", states, workload))]
    for part in added:
        each = formats.bytes_of(kept(part, states, workload))
        is_whole = part == "token" and workload.phase == "prefill"
        moved.append(product(workload.ctx, each) if is_whole else each)
    return total(moved, "bytes")
