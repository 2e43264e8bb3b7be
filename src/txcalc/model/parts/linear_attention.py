"""Attention without a softmax: a matrix of keys times values is all that is kept of the past."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from txcalc.exact.quantity import TWO, Letter, Quantity, product
from txcalc.model.parts.base import Division, Part, Slot, dim
from txcalc.model.parts.norm import norm_weights
from txcalc.model.rows import Op, Scan, State, Weight, linear
from txcalc.workload.reach import FIXED


class Lightning(Part, frozen=True, kw_only=True, tag="lightning"):
    """Lightning attention, arXiv:2401.04658, gated and normalised as in MiniMax-01
    (arXiv:2501.08313): a head_dim x head_dim state for each head.

    A step writes the state (key times value) and reads it with the query: 2 multiply-adds for each
    of its elements.  It is kept in the cache's format.
    """

    divided: ClassVar[Mapping[str, Division] | None] = {"n_heads": "even"}

    n_heads: Annotated[Letter, dim("heads, each with queries, keys and values")]
    head_dim: Annotated[Letter, dim("width of one head")]

    def weights(self, slot: Slot) -> list[Weight]:
        """q, k, v, the output's gate and norm, and out."""
        d_model, heads = (slot.d_model,), (self.n_heads, self.head_dim)
        rows = [row for name in ("q", "k", "v", "gate") for row in linear(name, d_model, heads)]
        rows += norm_weights("rms", "norm", *heads)
        return rows + linear("out", heads, d_model)

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """The state written and read."""
        return [Scan(name="scan", width=product(TWO, *self._matrix))]

    def state(self, slot: Slot) -> list[State]:
        """The matrices of keys times values."""
        return [State(name="recurrent", dims=self._matrix, reach=FIXED)]

    @property
    def _matrix(self) -> tuple[Quantity, ...]:
        return self.n_heads, self.head_dim, self.head_dim


class Mlstm(Part, frozen=True, kw_only=True, tag="mlstm"):
    """The matrix memory of xLSTM, arXiv:2405.04517 section 2.3, as in xLSTM-7B (arXiv:2503.13427).

    A step writes the memory (value times key) and reads it with the query, 2 multiply-adds for each
    of its elements, and reads the normaliser, 1 for each of its.  Memory, normaliser and the
    gates' running maximum are kept in fp32.
    """

    n_heads: Annotated[Letter, dim("heads, each with a memory")]
    d_qk: Annotated[Letter, dim("channels of all query or all key heads")]
    d_v: Annotated[Letter, dim("channels of all value heads")]
    bias: bool = False

    def weights(self, slot: Slot) -> list[Weight]:
        """q, k, v, the output's gate, each head's input and forget gate, norm and out."""
        d_model, heads, bias = (slot.d_model,), (self.n_heads,), self.bias
        widths = {"q": self.d_qk, "k": self.d_qk, "v": self.d_v, "gate": self.d_v}
        rows = [
            r for name, width in widths.items() for r in linear(name, d_model, (width,), bias=bias)
        ]
        for name in ("input_gate", "forget_gate"):
            rows += linear(name, d_model, heads, bias=True)
        rows += norm_weights("layer" if bias else "layer_no_bias", "norm", self.n_heads, self._v)
        return rows + linear("out", (self.d_v,), d_model, bias=bias)

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """The memory written and read, and the normaliser read."""
        memory = product(TWO, self.n_heads, self._qk, self._v)
        return [Scan(name="scan", width=memory + product(self.n_heads, self._qk))]

    def state(self, slot: Slot) -> list[State]:
        """Memory, normaliser and maximum of every head."""
        states: dict[str, tuple[Quantity, ...]] = {
            "memory": (self.n_heads, self._qk, self._v),
            "normaliser": (self.n_heads, self._qk),
            "maximum": (self.n_heads,),
        }
        return [State(name=n, dims=dims, reach=FIXED, fmt="fp32") for n, dims in states.items()]

    @property
    def _qk(self) -> Quantity:
        return self.d_qk // self.n_heads

    @property
    def _v(self) -> Quantity:
        return self.d_v // self.n_heads
