"""Short causal convolutions, one filter a channel."""

from typing import Annotated

import msgspec

from txcalc.exact.quantity import Letter, Quantity, const, product
from txcalc.model.parts.base import Part, Slot, dim
from txcalc.model.rows import State, Weight, linear
from txcalc.workload.reach import FIXED


def conv(taps: Quantity, channels: Quantity, *, bias: bool) -> list[Weight]:
    """The filters: each token costs ``taps`` multiply-adds a channel."""
    filters, *rest = linear("conv", (taps,), (channels,), bias=bias)
    return [msgspec.structs.replace(filters, depthwise=True), *rest]


def conv_state(taps: Quantity, channels: Quantity) -> State:
    """The last inputs, as many as the filter has taps."""
    return State(name="conv", dims=(channels, taps), reach=FIXED)


class ShortConv(Part, frozen=True, kw_only=True, tag="short_conv"):
    """A gated short convolution in place of attention, as in LFM2 (arXiv:2511.23404)."""

    d_conv: Annotated[Letter, dim("taps of the short convolution")]
    bias: bool = False

    def weights(self, slot: Slot) -> list[Weight]:
        """In (B, C and x), convolution and out."""
        d_model = (slot.d_model,)
        return [
            *linear("in", d_model, (product(const(3), slot.d_model),), bias=self.bias),
            *conv(self.d_conv, slot.d_model, bias=self.bias),
            *linear("out", d_model, d_model, bias=self.bias),
        ]

    def state(self, slot: Slot) -> list[State]:
        """The convolution's last inputs."""
        return [conv_state(self.d_conv, slot.d_model)]
