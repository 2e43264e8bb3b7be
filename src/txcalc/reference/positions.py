"""Where tokens stand, and what their positions do to the stream, to queries and to scores."""

from __future__ import annotations

import numpy as np

from txcalc.model.parts import Positions
from txcalc.model.parts.positions import Alibi, Relative, Rotary
from txcalc.reference.counter import Array, Ids

BASE = 10_000.0


class Places:
    """The positions of a pass's tokens, ``first`` and those after it; ``table`` holds score biases.

    Tokens of an encoder see ``both_ways``.
    """

    def __init__(
        self,
        positions: Positions | None,
        first: int,
        tokens: int,
        *,
        both_ways: bool = False,
        table: Array | None = None,
    ) -> None:
        self._positions = positions
        self._table = table
        self.both_ways = both_ways
        self.queries: Ids = np.arange(first, first + tokens)

    def rotated(self, x: Array) -> Array:
        """Queries or keys (batch, tokens, heads, width) of these tokens, rotated where they are."""
        match self._positions:
            case Rotary(width=width):
                turned = x.shape[-1] if width is None else min(int(width.value), x.shape[-1])
                return np.concatenate([_turned(x[..., :turned], self.queries), x[..., turned:]], -1)
            case _:
                return x

    def bias(self, keys: Ids, n_heads: int) -> Array | None:
        """What positions add to scores: (heads, queries, keys)."""
        distance = self.queries[:, None] - keys[None, :]
        match self._positions:
            case Alibi():
                slopes = 2.0 ** (-8.0 * np.arange(1, n_heads + 1) / n_heads)
                bias: Array = -np.abs(distance) * slopes[:, None, None]
                return bias
            case Relative() if self._table is not None:
                buckets = np.abs(distance) % self._table.shape[0]
                added: Array = np.moveaxis(self._table[buckets], 2, 0)
                return added
            case _:
                return None


def sinusoids(places: Ids, width: int) -> Array:
    """Sines and cosines of positions, arXiv:1706.03762 section 3.5."""
    angles = places[:, None] / BASE ** (np.arange(0, width, 2) / width)
    table = np.empty((len(places), 2 * angles.shape[1]))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table[:, :width]


def _turned(x: Array, places: Ids) -> Array:
    """Pairs of channels, each turned by its angle, arXiv:2104.09864 section 3.4.2."""
    half = x.shape[-1] // 2
    angles = places[:, None] / BASE ** (np.arange(half) / max(half, 1))
    cos, sin = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos, rest], -1)
