"""What sequences keep between steps."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from txcalc.errors import RefusedError
from txcalc.reference.counter import Array

Fmt = Literal["cache", "fp32", "none"]


class Kept(NamedTuple):
    """A state of a layer: in the cache's format, in fp32, or for this run only."""

    array: Array
    fmt: Fmt = "cache"


class State:
    """What one layer keeps, by the names of its rows.

    A ring has ``slots`` for tokens, and the next one takes the place of the oldest; one that is
    ``guarded`` refuses where a query still attends to that.
    """

    def __init__(self, slots: int | None = None, *, guarded: bool = True) -> None:
        self.kept: dict[str, Kept] = {}
        self._slots, self._guarded = slots, guarded

    def joined(self, name: str, new: Array, most: int | None) -> Array:
        """The tokens that a query finds: those kept under a name and new ones.

        Raises:
            RefusedError: a guarded ring with fewer slots than a query attends to.
        """
        old, slots = self.kept.get(name), self._slots
        every = new if old is None else np.concatenate([old.array, new], 1)
        if slots is None or every.shape[1] <= slots:
            return every
        if self._guarded and (most is None or most > slots):
            raise RefusedError(
                f"a ring of {slots} slots would overwrite keys that a query still attends to"
            )
        return every[:, -slots:]


class Cache:
    """The ``length`` of sequences so far, and each layer's state by position and loop.

    With ``slots`` it is a ring; where it is ``guarded`` it refuses what would be silently wrong.
    """

    def __init__(self, slots: int | None = None, *, guarded: bool = True) -> None:
        self.length = 0
        self._slots, self._guarded = slots, guarded
        self._layers: dict[tuple[int, int], State] = {}

    def layer(self, position: int, loop: int = 0) -> State:
        """The state of one layer, which a run fills and changes."""
        new = State(self._slots, guarded=self._guarded)
        return self._layers.setdefault((position, loop), new)

    def begin(self, first: int | None) -> int:
        """The position of the next token, which a guarded cache allows no other.

        Raises:
            RefusedError: another position than the one behind the cache.
        """
        if first is None:
            return self.length
        if self._guarded and first != self.length:
            raise RefusedError(
                f"position {first} after a cache of {self.length} tokens: {self.length} is next"
            )
        return first

    def sizes(self, bytes_of: dict[str, int]) -> dict[str, int]:
        """Bytes of all sequences by the name of a state's row, with the bytes of each format."""
        by_name: dict[str, int] = {}
        for state in self._layers.values():
            for address, kept in state.kept.items():
                if kept.fmt != "none":
                    name = address.rpartition(".")[2]
                    size = kept.array.size * bytes_of[kept.fmt]
                    by_name[name] = by_name.get(name, 0) + size
        return by_name

    def of_source(self) -> Cache:
        """A cache without tokens that has the keys and values of the encoder's."""
        across = Cache()
        for (position, loop), state in self._layers.items():
            across.layer(position, loop).kept = {
                address: kept
                for address, kept in state.kept.items()
                if address.startswith("cross_attention.")
            }
        return across
