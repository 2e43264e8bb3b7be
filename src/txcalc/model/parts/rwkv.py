"""RWKV-4: a recurrence in place of attention, and an FFN that sees the token before."""

from typing import Annotated

from txcalc.exact.quantity import Letter, const
from txcalc.model.parts.base import Part, Slot, dim, recurrent_state
from txcalc.model.rows import State, Weight, linear
from txcalc.workload.reach import FIXED


class TimeMixing(Part, frozen=True, kw_only=True, tag="rwkv"):
    """RWKV-4's time mixing, arXiv:2305.13048 section 3.1: an average a channel, weighted by keys.

    The recurrence multiplies channel by channel, which is elementwise work and counts nothing.  It
    keeps a numerator, a denominator and their running maximum, in fp32.
    """

    d_inner: Annotated[Letter, dim("channels of the recurrence")]

    def weights(self, slot: Slot) -> list[Weight]:
        """Key, value, receptance and out; decay, bonus, and the shares of this token."""
        d_model, d_inner = (slot.d_model,), (self.d_inner,)
        mixed = ("k", "v", "receptance")
        rows = [row for name in mixed for row in linear(name, d_model, d_inner)]
        rows += _shares(slot, *mixed)
        rows += [Weight(name=n, use="elementwise", outputs=d_inner) for n in ("decay", "bonus")]
        return rows + linear("out", d_inner, d_model)

    def state(self, slot: Slot) -> list[State]:
        """The token before, and what the average is made of."""
        return [
            State(name="shift", dims=(slot.d_model,), reach=FIXED),
            recurrent_state(const(3), self.d_inner),
        ]


class ChannelMixing(Part, frozen=True, kw_only=True, tag="channel_mixing"):
    """RWKV-4's channel mixing, arXiv:2305.13048 section 3.1: a plain FFN behind a gate."""

    d_ff: Annotated[Letter, dim("width of the FFN's hidden layer")]

    def weights(self, slot: Slot) -> list[Weight]:
        """Up, down and receptance, and the shares of this token."""
        d_model, d_ff = (slot.d_model,), (self.d_ff,)
        return [
            *linear("up", d_model, d_ff),
            *linear("down", d_ff, d_model),
            *linear("receptance", d_model, d_model),
            *_shares(slot, "up", "receptance"),
        ]

    def state(self, slot: Slot) -> list[State]:
        """The token before."""
        return [State(name="shift", dims=(slot.d_model,), reach=FIXED)]


def _shares(slot: Slot, *names: str) -> list[Weight]:
    """How much of each channel is this token's, and how much the one's before."""
    return [Weight(name=f"mix_{n}", use="elementwise", outputs=(slot.d_model,)) for n in names]
