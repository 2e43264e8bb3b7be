"""An answer as data: addressed quantities with what was assumed and agreed for them."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.errors import AddressError, RefusedError, nearest
from txcalc.exact.quantity import ONE, Quantity, same_derivation
from txcalc.model.rows import Weight

Figures = dict[str, Quantity]
"""Full address -> quantity; below ``block`` the block's name always follows."""

Shape = tuple[Quantity, ...]

Layout = Literal["figures", "shapes", "tensors", "steps", "catalogue"]
"""How an answer stands on a page."""


class Bar(msgspec.Struct, frozen=True):
    """One line of a bar picture."""

    label: str
    length: Quantity


class Held(msgspec.Struct, frozen=True):
    """A tensor and how many layers have one like it."""

    weight: Weight
    layers: Quantity = ONE


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What an account answers for one model.

    ``figures`` is all that can be asked for by address, ``beneath`` what only explanations name on
    the way to them, ``shown`` what a table lists of it, under
    ``labels`` where the address does not tell enough; ``shares`` are parts of a whole among them;
    ``refused`` tells for the start of an address why the model has no such figure, ``ambiguous``
    what to say instead of an address that could mean several.
    """

    title: str
    model: str
    source: str
    figures: Figures
    shown: list[str]
    beneath: Figures = {}
    tensors: dict[str, Held] = {}
    shapes: dict[str, Shape] = {}
    labels: dict[str, str] = {}
    notes: dict[str, str] = {}
    shares: Figures = {}
    bars: list[Bar] = []
    scope: str = "model"
    assumptions: list[str] = []
    conventions: list[str] = []
    warnings: list[str] = []
    refused: dict[str, str] = {}
    ambiguous: dict[str, str] = {}
    block_kinds: list[str] = []

    def find(self, address: str) -> Quantity:
        """The figure of an address; ``block`` without a name stands for all kinds that agree.

        Raises:
            AddressError: no such figure, or kinds of blocks that differ there.
            RefusedError: a figure that this model cannot have.
        """
        if address in self.figures:
            return self.figures[address]
        if address in self.ambiguous:
            raise AddressError(f"{self.model}: {address}: {self.ambiguous[address]}")
        for start, why in self.refused.items():
            if address == start or address.startswith(f"{start}."):
                raise RefusedError(f"{self.model}: {address}: {why}")
        candidates = self._by_kind(address)
        if not candidates:
            known = list(dict.fromkeys([*map(self.short, self.figures), *self.figures]))
            raise AddressError(f"{self.model} has no figure {address!r}{_hint(address, known)}")
        first, *others = candidates.values()
        if all(same_derivation(first, other) for other in others):
            return first
        listed = ", ".join(candidates)
        raise AddressError(
            f"{self.model}: {address!r} differs between blocks: name one of {listed}"
        )

    def short(self, address: str) -> str:
        """An address as it is written: without the block's name where there is one kind alone."""
        if len(self.block_kinds) == 1:
            head, block, tail = address.partition(f".block.{self.block_kinds[0]}")
            if block:
                return f"{head}.block{tail}"
        return address

    def _by_kind(self, address: str) -> Figures:
        head, block, tail = f"{address}.".partition(".block.")
        if not block:
            return {}
        named = {f"{head}.block.{kind}.{tail}".rstrip("."): kind for kind in self.block_kinds}
        return {name: self.figures[name] for name in named if name in self.figures}


def _hint(address: str, known: list[str]) -> str:
    below = [name for name in known if name.rpartition(".")[0] == address]
    return f"; there are {', '.join(below)}" if below else nearest(address, known)
