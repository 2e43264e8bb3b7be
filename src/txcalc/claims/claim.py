"""A claim as a document makes it, where it stands, and the verdict on it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from txcalc.claims.written import Written
from txcalc.exact.quantity import Quantity

Relation = Literal["rounds", "truncates", "over", "under", "within"]
Expect = Literal["holds", "misprint", "rounded-inputs"]
Options = dict[str, Any]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number that a document states about a model.

    ``claim`` is an address or arithmetic over addresses; ``value`` the number as written.  A
    ``misprint`` has to fail, and ``should_be`` to hold; with ``rounded-inputs`` the documented
    number follows from ``inputs``, not from the exact figure.
    """

    id: str
    model: str
    claim: str
    value: str
    says: str = ""
    source: str = ""
    options: Options = {}
    relation: Relation = "rounds"
    tolerance: str = ""
    because: str = ""
    expect: Expect = "holds"
    should_be: str = ""
    inputs: str = ""


class Place(msgspec.Struct, frozen=True):
    """Where a claim stands: a file, its line, and the span of the written number."""

    file: str
    line: int
    start: int = 0
    end: int = 0


class Formula(msgspec.Struct, frozen=True):
    """How one figure of a claim came to be."""

    address: str
    letters: str
    numbers: str


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A claim, what was computed, and what is wrong with it, if anything.

    ``refreshed`` is what its document says now instead, once a stale number has been rewritten.
    """

    claim: Claim
    place: Place
    computed: Quantity | None = None
    written: Written | None = None
    problem: str = ""
    unreadable: bool = False
    formulas: list[Formula] = []
    refreshed: str = ""

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problem


def unreadable(
    place: Place, message: str, claim: Claim | None = None, *, name: str = ""
) -> Verdict:
    """The verdict on what cannot be read or computed."""
    nothing = Claim(id=name or f"line {place.line}", model="", claim="", value="")
    return Verdict(claim=claim or nothing, place=place, problem=message, unreadable=True)
