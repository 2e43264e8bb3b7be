"""In which forms a file may hold rows: as they are, transposed, stacked, or fused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

Way = Literal["as it is", "transposed"]
Shape = tuple[int, ...]


def as_matrix(shape: Shape, rows: int, columns: int) -> Way | None:
    """Whether a tensor holds rows x columns, its dimensions taken together on either side."""
    sides = list(_two_sides(shape))
    if (rows, columns) in sides:
        return "as it is"
    return "transposed" if (columns, rows) in sides else None


def as_vector(shape: Shape, dims: Sequence[int]) -> Way | None:
    """Whether a tensor holds what is no matrix: as many elements, along whatever dimensions."""
    shape, own = _without_ones(shape), _without_ones(dims)
    if math.prod(shape) != math.prod(own):
        return None
    is_turned = len(own) > 1 and shape != own and sorted(shape) == sorted(own)
    return "transposed" if is_turned else "as it is"


def stacked(shape: Shape, copies: int, rows: int, columns: int) -> Way | None:
    """Whether a tensor holds several copies, one behind another along any of its sides."""
    if shape[:1] == (copies,) and (way := as_matrix(shape[1:], rows, columns)):
        return way
    return as_matrix(shape, copies * rows, columns) or as_matrix(shape, rows, copies * columns)


def _two_sides(shape: Shape) -> Iterator[tuple[int, int]]:
    dims = _without_ones(shape)
    for i in range(len(dims) + 1):
        yield math.prod(dims[:i]), math.prod(dims[i:])


def _without_ones(dims: Sequence[int]) -> Shape:
    return tuple(size for size in dims if size != 1)
