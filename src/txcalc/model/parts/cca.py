"""Attention in a compressed space, its queries and keys mixed by convolutions."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from txcalc.exact.condition import Condition
from txcalc.exact.quantity import TWO, Letter, Quantity, product
from txcalc.model.parts.attention import GroupedQuery
from txcalc.model.parts.base import Division, Slot, dim
from txcalc.model.parts.conv import conv
from txcalc.model.rows import State, Weight, linear
from txcalc.model.saved import Keeping, Saved
from txcalc.workload.reach import FIXED


class CompressedConvolutional(GroupedQuery, frozen=True, kw_only=True, tag="cca"):
    """Compressed convolutional attention, arXiv:2510.04476 section 3.

    Queries and keys pass a filter a channel and then one a head, both with biases; half of each
    value comes from the token before.  Keys have one learned scale a head.
    """

    divided: ClassVar[Mapping[str, Division] | None] = None

    d_conv: Annotated[Letter, dim("taps of the convolution of each channel")]
    d_head_conv: Annotated[Letter, dim("taps of the convolution within each head")]

    def conditions(self, d_model: Letter) -> list[Condition]:
        """Also, values fall into two halves."""
        message = "n_kv_heads * head_dim is odd: values have two halves of one width"
        halves = Condition("multiple", product(self.n_kv_heads, self.d_qk), TWO, message)
        return [*super().conditions(d_model), halves]

    @property
    def heads(self) -> Quantity:
        """Heads of queries and keys, which are convolved."""
        return self.n_heads + self.n_kv_heads

    def weights(self, slot: Slot) -> list[Weight]:
        """Also the scales of the keys."""
        scale = Weight(name="k_scale", use="elementwise", outputs=(self.n_kv_heads,))
        return [*super().weights(slot), scale]

    def _keys_and_values(self, slot: Slot) -> list[Weight]:
        """Also the convolutions behind them."""
        channels, inputs = (self.heads, self.d_qk), (self.d_head_conv, self.d_qk)
        filters, bias = linear("head_conv", inputs, channels, bias=True)
        return [
            *super()._keys_and_values(slot),
            *conv(self.d_conv, product(*channels), bias=True),
            msgspec.structs.replace(filters, depthwise=True),
            bias,
        ]

    def saved(self, slot: Slot, how: Keeping) -> list[Saved] | None:
        """Convolutions were not measured."""
        return None

    def state(self, slot: Slot) -> list[State]:
        """Also the last inputs of the convolutions, and the last token's half of the values."""
        taps = self.d_conv + self.d_head_conv - TWO
        half = product(self.n_kv_heads, self.d_qk) // TWO
        return [
            *super().state(slot),
            State(name="conv", dims=(self.heads, self.d_qk, taps), reach=FIXED),
            State(name="delayed_values", dims=(half,), reach=FIXED),
        ]
