"""Arithmetic of processors of images: shapes of tiles, canvases, sides within limits.

Floating point is the published code's, where it decides how a side is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

MOST_TILES = 4096
"""Tiles that a rule may cut an image into."""


def shapes(min_tiles: int, max_tiles: int) -> Iterator[tuple[int, int]]:
    """Columns and rows of tiles, few before many."""
    most = min(max_tiles, MOST_TILES)
    found = [
        (columns, rows)
        for columns in range(1, most + 1)
        for rows in range(1, most // columns + 1)
        if columns * rows >= min_tiles
    ]
    yield from sorted(found, key=lambda shape: shape[0] * shape[1])


def nearest_shape(height: int, width: int, tile: int, least: int, most: int) -> tuple[int, int]:
    """Columns and rows in the shape nearest to the image's; of several the larger, up to a size."""
    best, difference = (1, 1), math.inf
    for shape in shapes(least, most):
        apart = abs(width / height - shape[0] / shape[1])
        is_filled = width * height > 0.5 * tile * tile * shape[0] * shape[1]
        if apart < difference or (apart == difference and is_filled):
            best, difference = shape, apart
    return best


def best_canvas(height: int, width: int, canvases: list[tuple[int, int]]) -> tuple[int, int]:
    """The canvas that keeps most of the image, and of several the one that wastes least."""
    best, kept, wasted = canvases[0], 0, math.inf
    for tall, wide in canvases:
        scale = min(wide / width, tall / height)
        keeps = min(int(width * scale) * int(height * scale), width * height)
        wastes = tall * wide - keeps
        if keeps > kept or (keeps == kept and wastes < wasted):
            best, kept, wasted = (tall, wide), keeps, wastes
    return best


def limited(
    height: int, width: int, side: int, smallest: int, largest: int, *, least: int
) -> tuple[int, int]:
    """Both sides as multiples of ``side``, their area within limits."""
    rows, columns = (max(least, round(size / side) * side) for size in (height, width))
    if rows * columns > largest:
        beta = math.sqrt((height * width) / largest)
        return (
            max(side, math.floor(height / beta / side) * side),
            max(side, math.floor(width / beta / side) * side),
        )
    if rows * columns < smallest:
        beta = math.sqrt(smallest / (height * width))
        return math.ceil(height * beta / side) * side, math.ceil(width * beta / side) * side
    return rows, columns


def scaled(height: int, width: int, longest: int, bound: int = 4096) -> tuple[int, int]:
    """The longer side as long as said, the other even, and neither beyond a bound."""
    ratio = width / height
    if width >= height:
        width, height = longest, int(longest / ratio)
        height += height % 2
    else:
        height, width = longest, int(longest * ratio)
        width += width % 2
    height, width = max(height, 1), max(width, 1)
    ratio = width / height
    if width >= height and width > bound:
        width, height = bound, int(bound / ratio)
    elif height > width and height > bound:
        height, width = bound, int(bound * ratio)
    return max(height, 1), max(width, 1)
