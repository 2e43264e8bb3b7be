"""Hyper-connections: several residual streams, read and written by learned weights."""

from collections.abc import Sequence
from typing import Annotated

from txcalc.exact.quantity import TWO, Letter, Quantity, const, product
from txcalc.model.parts.base import Residual, dim
from txcalc.model.rows import Op, Scan, Weight, linear


class HyperConnections(Residual, frozen=True, kw_only=True, tag="hyper"):
    """``n_streams`` residual streams around each sub-layer, arXiv:2409.19606 and 2512.24880.

    All streams of a token are projected onto the weights by which the sub-layer reads and writes
    each of them and, where they are ``mixed``, onto a matrix that mixes them beside it.  Reading
    and writing are elementwise, mixing is a product without a weight.
    """

    n_streams: Annotated[Letter, dim("residual streams")]
    mixed: bool = False

    def weights(self, branches: Sequence[str], d_model: Quantity) -> list[Weight]:
        """For each sub-layer a projection, its bias, and a scale for each of its parts."""
        each = TWO + self.n_streams if self.mixed else TWO
        streams, width = (self.n_streams, d_model), (product(each, self.n_streams),)
        scales = (const(3 if self.mixed else 2),)
        return [
            row
            for branch in branches
            for row in (
                *linear(f"{branch}.weights", streams, width, bias=True),
                Weight(name=f"{branch}.scales", use="elementwise", outputs=scales),
            )
        ]

    def operations(self, branches: Sequence[str], d_model: Quantity) -> list[Op | Scan]:
        """The streams of a token mixed beside each sub-layer."""
        if not self.mixed:
            return []
        width = product(self.n_streams, self.n_streams, d_model)
        return [Scan(name=f"{branch}.mix", width=width) for branch in branches]
