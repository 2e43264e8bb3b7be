"""The gated delta rule: linear attention that corrects what it has stored."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from txcalc.exact.quantity import TWO, Letter, Quantity, const, product
from txcalc.model.parts.base import Division, Part, Slot, dim, recurrent_state
from txcalc.model.parts.conv import conv, conv_state
from txcalc.model.parts.norm import norm_weights
from txcalc.model.rows import Op, Scan, State, Weight, linear


class GatedDelta(Part, frozen=True, kw_only=True, tag="gated_delta"):
    """Gated DeltaNet, arXiv:2412.06464, as in Qwen3-Next: a k_dim x v_dim state for each v head.

    A step reads the state with the key, writes the correction, and reads it with the query:
    3 multiply-adds for each of its elements.
    """

    divided: ClassVar[Mapping[str, Division] | None] = {"n_k_heads": "even", "n_v_heads": "even"}

    n_k_heads: Annotated[Letter, dim("query and key heads")]
    n_v_heads: Annotated[Letter, dim("value heads, each with a state")]
    k_dim: Annotated[Letter, dim("width of one key head")]
    v_dim: Annotated[Letter, dim("width of one value head")]
    d_conv: Annotated[Letter, dim("taps of the short convolution")]

    @property
    def convolved(self) -> Quantity:
        """Channels that the convolution sees: queries, keys and values."""
        keys = product(TWO, self.n_k_heads, self.k_dim)
        return keys + product(self.n_v_heads, self.v_dim)

    def weights(self, slot: Slot) -> list[Weight]:
        """Projections of q, k, v, the output gate, write strength and decay; norm and out."""
        d_model = (slot.d_model,)
        keys, values, heads = (
            (self.n_k_heads, self.k_dim), (self.n_v_heads, self.v_dim), (self.n_v_heads,)
        )  # fmt: skip
        widths = {"q": keys, "k": keys, "v": values, "gate": values, "b": heads, "a": heads}
        rows = [row for name, width in widths.items() for row in linear(name, d_model, width)]
        rows += conv(self.d_conv, self.convolved, bias=False)
        rows += [
            Weight(name=name, use="elementwise", outputs=heads) for name in ("dt_bias", "a_log")
        ]
        rows += norm_weights("rms", "norm", self.v_dim)
        return rows + linear("out", values, d_model)

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """The state read, corrected and read again."""
        return [Scan(name="scan", width=product(const(3), self.n_v_heads, self.k_dim, self.v_dim))]

    def state(self, slot: Slot) -> list[State]:
        """The convolution's last inputs, and the states in fp32."""
        return [
            conv_state(self.d_conv, self.convolved),
            recurrent_state(self.n_v_heads, self.k_dim, self.v_dim),
        ]
