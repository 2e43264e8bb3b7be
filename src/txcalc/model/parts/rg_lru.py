"""The real-gated linear recurrent unit: one state a channel, decayed and written by gates."""

from typing import Annotated

from txcalc.exact.quantity import ONE, Letter
from txcalc.model.parts.base import Part, Slot, dim, recurrent_state
from txcalc.model.parts.conv import conv
from txcalc.model.rows import State, Weight, linear
from txcalc.workload.reach import FIXED


class RgLru(Part, frozen=True, kw_only=True, tag="rg_lru"):
    """Griffin's recurrent block, arXiv:2402.19427 section 2.4: a branch through the RG-LRU, times
    one through GeLU.

    The two gates are block-diagonal.  The recurrence multiplies channel by channel, which is
    elementwise work and counts nothing.  Of the convolution's inputs all but the newest are kept.
    """

    d_inner: Annotated[Letter, dim("channels of the recurrence")]
    n_gate_blocks: Annotated[Letter, dim("blocks on the diagonal of a gate")]
    gate_dim: Annotated[Letter, dim("width of one block of a gate")]
    d_conv: Annotated[Letter, dim("taps of the short convolution")]

    def weights(self, slot: Slot) -> list[Weight]:
        """Both branches in, convolution, gates, decay and out; all but the decay have biases."""
        d_model, d_inner = (slot.d_model,), (self.d_inner,)
        rows = linear("x", d_model, d_inner, bias=True)
        rows += linear("y", d_model, d_inner, bias=True)
        rows += conv(self.d_conv, self.d_inner, bias=True)
        for name in ("input_gate", "recurrent_gate"):
            gate, blocks = (self.gate_dim,), self.n_gate_blocks
            rows += linear(name, gate, gate, bias=True, copies=blocks, used=blocks)
        rows.append(Weight(name="decay", use="elementwise", outputs=d_inner))
        return rows + linear("out", d_inner, d_model, bias=True)

    def state(self, slot: Slot) -> list[State]:
        """The convolution's last inputs, and the state in fp32."""
        return [
            State(name="conv", dims=(self.d_inner, self.d_conv - ONE), reach=FIXED),
            recurrent_state(self.d_inner),
        ]
