"""Kimi delta attention: the delta rule with a decay for each channel of the state."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from txcalc.exact.quantity import Letter, Quantity, const, product
from txcalc.model.parts.base import Division, Part, Slot, dim, recurrent_state
from txcalc.model.parts.conv import conv, conv_state
from txcalc.model.parts.norm import norm_weights
from txcalc.model.rows import Op, Scan, State, Weight, linear


class KimiDelta(Part, frozen=True, kw_only=True, tag="kda"):
    """Kimi delta attention, arXiv:2510.26692 section 3: a head_dim x head_dim state for each head.

    The projections of the decay and of the output gate have a ``gate_rank``, or are whole.  A step
    reads the state with the key, writes the correction, and reads it with the query: 3
    multiply-adds for each of its elements.
    """

    divided: ClassVar[Mapping[str, Division] | None] = {"n_heads": "even"}

    n_heads: Annotated[Letter, dim("heads, each with a state")]
    head_dim: Annotated[Letter, dim("width of a head's query, key and value")]
    d_conv: Annotated[Letter, dim("taps of the short convolution")]
    gate_rank: Annotated[Letter | None, dim("rank of the projections of the gates")] = None

    @property
    def convolved(self) -> Quantity:
        """Channels that the convolution sees: queries, keys and values."""
        return product(const(3), self.n_heads, self.head_dim)

    def weights(self, slot: Slot) -> list[Weight]:
        """Projections of q, k, v, decay, write strength and output gate; norm and out."""
        d_model, heads, width = (slot.d_model,), (self.n_heads,), (self.n_heads, self.head_dim)
        rows = [row for name in ("q", "k", "v") for row in linear(name, d_model, width)]
        rows += conv(self.d_conv, self.convolved, bias=False)
        rows += self._gate("decay", slot)
        rows.append(Weight(name="dt_bias", use="elementwise", outputs=width))
        rows.append(Weight(name="a_log", use="elementwise", outputs=heads))
        rows += linear("b", d_model, heads)
        rows += self._gate("gate", slot)
        rows += norm_weights("rms", "norm", self.head_dim)
        return rows + linear("out", width, d_model)

    def _gate(self, name: str, slot: Slot) -> list[Weight]:
        d_model, width = (slot.d_model,), (self.n_heads, self.head_dim)
        if self.gate_rank is None:
            return linear(name, d_model, width)
        rank = (self.gate_rank,)
        return linear(f"{name}_down", d_model, rank) + linear(f"{name}_up", rank, width)

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """The state read, corrected and read again."""
        width = product(const(3), self.n_heads, self.head_dim, self.head_dim)
        return [Scan(name="scan", width=width)]

    def state(self, slot: Slot) -> list[State]:
        """The convolution's last inputs, and the states in fp32."""
        return [
            conv_state(self.d_conv, self.convolved),
            recurrent_state(self.n_heads, self.head_dim, self.head_dim),
        ]
