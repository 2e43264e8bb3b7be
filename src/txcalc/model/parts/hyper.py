"""Hyper-connections: several residual streams, read and written by learned weights."""

from typing import Annotated

import msgspec

from txcalc.exact.quantity import TWO, Letter, Quantity, const, product
from txcalc.model.parts.base import dim
from txcalc.model.rows import Scan, Weight, linear


class HyperConnections(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``n_streams`` residual streams around each sub-layer, arXiv:2409.19606 and 2512.24880.

    All streams of a token are projected onto the weights by which the sub-layer reads and writes
    each of them and, where they are ``mixed``, onto a matrix that mixes them beside it.  Reading
    and writing are elementwise, mixing is a product without a weight.
    """

    n_streams: Annotated[Letter, dim("residual streams")]
    mixed: bool = False

    def weights(self, role: str, d_model: Quantity) -> list[Weight]:
        """The projection of one sub-layer, its bias, and a scale for each of its parts."""
        each = TWO + self.n_streams if self.mixed else TWO
        width, scales = product(each, self.n_streams), const(3 if self.mixed else 2)
        return [
            *linear(f"{role}.weights", (self.n_streams, d_model), (width,), bias=True),
            Weight(name=f"{role}.scales", use="elementwise", outputs=(scales,)),
        ]

    def operations(self, role: str, d_model: Quantity) -> list[Scan]:
        """The streams of a token mixed beside one sub-layer."""
        if not self.mixed:
            return []
        return [Scan(name=f"{role}.mix", width=product(self.n_streams, self.n_streams, d_model))]
