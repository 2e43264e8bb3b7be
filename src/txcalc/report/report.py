"""An answer as data: addressed quantities with what was assumed and agreed for them."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.errors import AddressError, RefusedError, nearest
from txcalc.exact.condition import Condition
from txcalc.exact.quantity import ONE, Quantity, same_derivation
from txcalc.model.rows import Weight
from txcalc.report import address as grammar

Figures = dict[str, Quantity]
"""Full address -> quantity; below ``block`` the block's name always follows."""

Shape = tuple[Quantity, ...]

Layout = Literal[
    "figures", "shapes", "tensors", "steps", "catalogue", "divided", "budget", "grid",
    "differences", "roofline",
]  # fmt: skip
"""How a report stands on a screen."""


class Bar(msgspec.Struct, frozen=True):
    """One line of a bar picture."""

    label: str
    length: Quantity


class Held(msgspec.Struct, frozen=True):
    """A tensor and how many layers have one like it."""

    weight: Weight
    layers: Quantity = ONE


class Way(msgspec.Struct, frozen=True):
    """What other options would hold, in words: requests, or a context of those that are asked."""

    words: str
    requests: Quantity
    context: Quantity | None = None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One tensor of a checkpoint that is not as the model has it.

    ``row`` is the address of what it should hold, ``layer`` the number of its layer in the stack;
    ``expected`` and ``found`` are shapes or types.  A missing ``tensor`` has the name that those of
    other layers let expect, where there are any.
    """

    what: Literal["missing", "extra", "other shape", "other type"]
    row: str = ""
    layer: int | None = None
    expected: str = ""
    found: str = ""
    tensor: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What an account answers for one model.

    ``lead`` are sentences that stand first.  ``figures`` is all that can be asked for by address,
    ``beneath`` what only explanations name on the way to them, ``shown`` what a table lists of it,
    under ``labels`` where the address does not say enough, with ``remarks`` beside; ``ways`` are
    what else would fit; ``best`` says which figure of several models is the better; ``shares`` are
    parts of a whole among them; ``refused`` says for the start of an address why the model has no
    such figure (``shown`` may list it nevertheless), ``ambiguous`` what to write instead of an
    address that could mean several; ``differences`` are those of a checkpoint; ``conditions`` have
    to hold for its figures to be there.
    """

    title: str
    figures: Figures
    model: str = ""
    source: str = ""
    shown: list[str]
    beneath: Figures = {}
    tensors: dict[str, Held] = {}
    shapes: dict[str, Shape] = {}
    labels: dict[str, str] = {}
    remarks: dict[str, str] = {}
    ways: list[Way] = []
    notes: dict[str, str] = {}
    shares: Figures = {}
    best: dict[str, Literal["least", "most"]] = {}
    bars: list[Bar] = []
    scope: str = "model"
    assumptions: list[str] = []
    conventions: list[str] = []
    warnings: list[str] = []
    refused: dict[str, str] = {}
    conditions: list[Condition] = []
    ambiguous: dict[str, str] = {}
    lead: list[str] = []
    differences: list[Difference] = []
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
            if address == start or grammar.is_below(address, start):
                raise RefusedError(f"{self.model}: {address}: {why}")
        candidates = {
            name: self.figures[name]
            for name in grammar.with_kinds(address, self.block_kinds)
            if name in self.figures
        }
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
        """An address as it is written: see :func:`txcalc.report.address.short`."""
        return grammar.short(address, self.block_kinds)


def _hint(address: str, known: list[str]) -> str:
    below = [name for name in known if grammar.parent(name) == address]
    return f"; there are {', '.join(below)}" if below else nearest(address, known)
