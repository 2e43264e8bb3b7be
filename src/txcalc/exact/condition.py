"""What has to hold between two quantities, as data: checked here, and wherever it is sent."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.exact.quantity import Quantity

Relation = Literal["multiple", "at most", "above"]
"""``a`` is a multiple of ``b``, is at most ``b``, or is above ``b``."""


class Condition(msgspec.Struct, frozen=True):
    """A relation between two quantities of one unit.

    ``message`` says what is wrong where it does not hold: ``{0}`` and ``{1}`` in it are the two
    values, ``{0:,}`` with their thousands apart.  ``where`` is the field that is at fault.
    """

    relation: Relation
    a: Quantity
    b: Quantity
    message: str
    where: str = ""

    @property
    def holds(self) -> bool:
        """Whether it does."""
        a, b = self.a.value, self.b.value
        match self.relation:
            case "multiple":
                return a % b == 0
            case "at most":
                return a <= b
            case "above":
                return a > b

    @property
    def problem(self) -> str:
        """What is wrong, where it does not hold."""
        return self.message.format(self.a.value, self.b.value)
