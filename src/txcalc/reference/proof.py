"""What is proved: a number of a run beside the account's."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec

Number = int | Fraction | float
"""A count, or where outputs and means are compared a float."""


class Equality(msgspec.Struct, frozen=True, kw_only=True):
    """A figure (or what is compared) as it was ``run`` and as it is ``accounted``.

    ``within`` is what they may differ by: 0 for counts, rounding for outputs, standard errors for
    means.  ``about`` names the run.
    """

    about: str
    address: str
    run: Number
    accounted: Number
    within: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether both numbers are one."""
        return -self.within <= self.run - self.accounted <= self.within


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """All equalities of a model; ``scaled`` are sizes by name, before and after."""

    model: str
    ran: str
    scaled: Sequence[tuple[str, int, int]]
    equalities: Sequence[Equality]

    @property
    def failed(self) -> list[Equality]:
        """Those that do not hold."""
        return [equality for equality in self.equalities if not equality.holds]

    @property
    def holds(self) -> bool:
        """Whether all do."""
        return not self.failed
