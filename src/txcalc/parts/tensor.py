"""Tensors that no part knows, declared one by one in a description."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.inventory import Weight
from txcalc.quantity import Quantity


class Tensor(msgspec.Struct, frozen=True, kw_only=True):
    """``dims`` are out and in for a matmul, rows and columns for a look-up, else any."""

    use: Literal["matmul", "lookup", "elementwise"]
    dims: tuple[Quantity, ...]

    def weight(self, name: str) -> Weight:
        """The tensor as a row of the inventory."""
        match self.use:
            case "matmul":
                return self._row(name, outputs=self.dims[:1], inputs=self.dims[1:])
            case "lookup":
                return self._row(name, outputs=self.dims[1:], inputs=self.dims[:1])
            case "elementwise":
                return self._row(name, outputs=self.dims, inputs=())

    def _row(
        self, name: str, *, outputs: tuple[Quantity, ...], inputs: tuple[Quantity, ...]
    ) -> Weight:
        return Weight(name=name, use=self.use, outputs=outputs, inputs=inputs)
