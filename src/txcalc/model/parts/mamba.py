"""Selective state spaces: Mamba and Mamba-2."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from txcalc.exact.quantity import TWO, Letter, Quantity, product, total
from txcalc.model.parts.base import Division, Part, Slot, dim, recurrent_state
from txcalc.model.parts.conv import conv, conv_state
from txcalc.model.parts.norm import norm_weights
from txcalc.model.rows import Op, Scan, State, Weight, linear

StateDim = Annotated[Letter, dim("state of one channel")]
Kernel = Annotated[Letter, dim("taps of the short convolution")]


class Mamba1(Part, frozen=True, kw_only=True, tag="mamba"):
    """Mamba, arXiv:2312.00752 section 3: one state of d_state for each of d_inner channels.

    A step writes the state (an outer product) and reads it: 2 multiply-adds for each element.
    ``inner_norms`` are Jamba's, on dt, B and C (arXiv:2403.19887).
    """

    divided: ClassVar[Mapping[str, Division] | None] = {"d_inner": "even"}

    d_inner: Annotated[Letter, dim("channels of the state space")]
    d_state: StateDim
    d_conv: Kernel
    dt_rank: Annotated[Letter, dim("rank of the step size's projection")]
    conv_bias: bool = False
    bias: bool = False
    inner_norms: bool = False

    def weights(self, slot: Slot) -> list[Weight]:
        """in, convolution, x, dt, A, D and out."""
        d_model, d_inner = (slot.d_model,), (self.d_inner,)
        rows = linear("in", d_model, (product(TWO, self.d_inner),), bias=self.bias)
        rows += conv(self.d_conv, self.d_inner, bias=self.conv_bias)
        rows += linear("x", d_inner, (self.dt_rank + product(TWO, self.d_state),))
        rows += linear("dt", (self.dt_rank,), d_inner, bias=True)
        rows.append(Weight(name="a_log", use="elementwise", outputs=(self.d_inner, self.d_state)))
        rows.append(Weight(name="d", use="elementwise", outputs=d_inner))
        rows += linear("out", d_inner, d_model, bias=self.bias)
        if self.inner_norms:
            for name, width in (("dt", self.dt_rank), ("b", self.d_state), ("c", self.d_state)):
                rows += norm_weights("rms", f"{name}_norm", width)
        return rows

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """The state written and read."""
        return [Scan(name="scan", width=product(TWO, self.d_inner, self.d_state))]

    def state(self, slot: Slot) -> list[State]:
        """The convolution's last inputs, and the state in fp32."""
        return [
            conv_state(self.d_conv, self.d_inner),
            recurrent_state(self.d_inner, self.d_state),
        ]


class Mamba2(Part, frozen=True, kw_only=True, tag="mamba2"):
    """Mamba-2, arXiv:2405.21060 section 7: heads with a scalar decay, B and C shared by groups.

    A step writes the state and reads it: 2 multiply-adds for each of its elements.  Biases stand on
    the projections in and out (``true``) or on those listed.
    """

    divided: ClassVar[Mapping[str, Division] | None] = {"n_ssm_heads": "even", "n_groups": "repeat"}

    n_ssm_heads: Annotated[Letter, dim("heads of the state space")]
    ssm_head_dim: Annotated[Letter, dim("channels of one head of the state space")]
    d_state: StateDim
    n_groups: Annotated[Letter, dim("groups of heads that share B and C")]
    d_conv: Kernel
    conv_bias: bool = False
    bias: bool | list[Literal["in", "out"]] = False
    gated_norm: bool = True

    @property
    def d_inner(self) -> Quantity:
        """Channels of all heads."""
        return product(self.n_ssm_heads, self.ssm_head_dim)

    @property
    def convolved(self) -> Quantity:
        """Channels that the convolution sees: x, B and C."""
        return self.d_inner + product(TWO, self.n_groups, self.d_state)

    def weights(self, slot: Slot) -> list[Weight]:
        """in, convolution, dt, A, D, the gated norm and out."""
        d_model, heads = (slot.d_model,), (self.n_ssm_heads,)
        projected = total((self.d_inner, self.convolved, self.n_ssm_heads), "")
        rows = linear("in", d_model, (projected,), bias=self._biased("in"))
        rows += conv(self.d_conv, self.convolved, bias=self.conv_bias)
        rows += [
            Weight(name=n, use="elementwise", outputs=heads) for n in ("dt_bias", "a_log", "d")
        ]
        if self.gated_norm:
            rows += norm_weights("rms", "norm", self.d_inner)
        inner = (self.n_ssm_heads, self.ssm_head_dim)
        return rows + linear("out", inner, d_model, bias=self._biased("out"))

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """The state written and read."""
        return [Scan(name="scan", width=product(TWO, self.d_inner, self.d_state))]

    def state(self, slot: Slot) -> list[State]:
        """The convolution's last inputs, and the state in fp32."""
        return [
            conv_state(self.d_conv, self.convolved),
            recurrent_state(self.d_inner, self.d_state),
        ]

    def _biased(self, projection: Literal["in", "out"]) -> bool:
        return self.bias if isinstance(self.bias, bool) else projection in self.bias
