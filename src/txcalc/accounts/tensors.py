"""A weight as the tensor that a file holds: its rows and columns."""

from __future__ import annotations

from txcalc.exact.quantity import Quantity, product
from txcalc.model.rows import Weight


def sides(weight: Weight) -> tuple[Quantity, Quantity]:
    """Rows and columns of a tensor as it is stored; of a vector one row."""
    rows, columns = weight.outputs, weight.inputs
    if weight.use == "lookup":
        rows, columns = columns, rows
    elif weight.use != "matmul":
        rows, columns = (), (*rows, *columns)
    return product(*rows), product(*columns)


def is_matrix(weight: Weight) -> bool:
    """Whether a tensor has rows and columns, and so tiles: no norm, bias, filter or lone row."""
    if weight.use not in ("matmul", "lookup") or weight.depthwise:
        return False
    return all(side.value > 1 for side in sides(weight))
