"""Alternating updates: several copies of the stream, one of which a layer computes."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from txcalc.exact.quantity import TWO, Letter, Quantity, product
from txcalc.model.parts.base import Residual, dim
from txcalc.model.parts.norm import norm_weights
from txcalc.model.rows import Op, Scan, Weight, linear


class AltUp(Residual, frozen=True, kw_only=True, tag="altup"):
    """``n_copies`` of the stream, arXiv:2301.13310, with coefficients by token as in Gemma 3n.

    A router, run before and after the layer, gives each token the coefficients by which the other
    copies are predicted, a product without a weight, and corrected, which is elementwise.
    """

    n_copies: Annotated[Letter, dim("copies of the residual stream")]

    def weights(self, branches: Sequence[str], d_model: Quantity) -> list[Weight]:
        """The router and its norm, the coefficients of both steps, and the output's scale."""
        copies = (self.n_copies,)
        [router] = linear("router", (d_model,), copies)
        return [
            msgspec.structs.replace(router, repeats=TWO),
            *norm_weights("rms", "router_norm", d_model),
            *linear("predict", copies, (self.n_copies, self.n_copies)),
            *linear("correct", copies, copies),
            Weight(name="scale", use="elementwise", outputs=(d_model,)),
        ]

    def operations(self, branches: Sequence[str], d_model: Quantity) -> list[Op | Scan]:
        """Every copy predicted from all of them."""
        return [Scan(name="mix", width=product(self.n_copies, self.n_copies, d_model))]
