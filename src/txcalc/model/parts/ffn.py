"""Feed-forward networks: plain, gated, and a mixture of either."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

import msgspec

from txcalc.exact.condition import Condition
from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity, product
from txcalc.model.parts.base import Division, Part, Slot, dim, read, share
from txcalc.model.rows import Role, Use, Weight, linear
from txcalc.model.saved import Keeping, Kept, Saved
from txcalc.workload.layout import Layout

_GATED = ("gate", "activated", "up", "product")
"""What a gated network keeps of its hidden layer."""
Width = Annotated[Letter, dim("width of the FFN's hidden layer")]


class Plain(Part, frozen=True, kw_only=True, tag="plain"):
    """act(x W1 + b1) W2 + b2, arXiv:1706.03762 section 3.3."""

    divided: ClassVar[Mapping[str, Division] | None] = {"d_ff": "even"}
    last_product: ClassVar[str | None] = "down"

    d_ff: Width
    bias: bool = False

    def weights(self, slot: Slot) -> list[Weight]:
        """Up and down, each with its bias where there is one."""
        return _network(slot.d_model, self.d_ff, gated=False, bias=self.bias)

    def saved(self, slot: Slot, how: Keeping) -> list[Saved] | None:
        """Input, and the hidden layer before and after its activation."""
        hidden = [Saved(name=name, dims=(self.d_ff,)) for name in ("up", "activated")]
        return [*read("input", slot.d_model, how, 1), *hidden]


class Gated(Part, frozen=True, kw_only=True, tag="glu"):
    """(act(x W_gate) * (x W_up)) W_down: SwiGLU and its kin, arXiv:2002.05202."""

    divided: ClassVar[Mapping[str, Division] | None] = {"d_ff": "even"}
    last_product: ClassVar[str | None] = "down"

    d_ff: Width
    bias: bool = False

    def weights(self, slot: Slot) -> list[Weight]:
        """gate, up and down, each with its bias where there is one."""
        return _network(slot.d_model, self.d_ff, gated=True, bias=self.bias)

    def saved(self, slot: Slot, how: Keeping) -> list[Saved] | None:
        """Input, gate, activated gate, up, and their product."""
        hidden = [Saved(name=name, dims=(self.d_ff,)) for name in _GATED]
        return [*read("input", slot.d_model, how, 2), *hidden]


class Mixture(Part, frozen=True, kw_only=True, tag="moe"):
    """A router sends each token to ``top_k`` of ``n_experts`` networks, arXiv:1701.06538.

    ``n_shared`` further ones, ``d_shared`` (default d_expert) wide, take every token
    (arXiv:2401.06066), behind a gate of one output where there is a ``shared_gate``, or one for
    ``each`` of them.  ``expert`` is what each of them is.  A ``router_bias`` may be a buffer,
    corrected outside of training's gradients (arXiv:2408.15664).  A block whose router is more than
    one matrix declares its tensors and leaves out the ``router``.  Of all experts ``n_zero`` pass a
    token on as it is (arXiv:2509.01322): of the top_k a token uses as many real ones as their
    share, the mean that balanced routing has.  ``zero_weights`` are gate and up projections that an
    implementation stores for them and never reads.  Routed experts may work on a latent of a token,
    ``d_latent`` wide, that all of them share; ``shared_bias`` is of its projections too
    (arXiv:2601.18089).  A ``partial`` block may leave out the top_k.
    """

    last_product: ClassVar[str | None] = ""  # the weighting of experts keeps their outputs

    n_experts: Annotated[Letter, dim("routed experts")]
    top_k: Annotated[Letter | None, dim("routed experts that a token uses")] = None
    d_expert: Annotated[Letter, dim("width of an expert's hidden layer")]
    n_shared: Annotated[Letter | None, dim("shared experts, which every token uses")] = None
    d_shared: Annotated[Letter | None, dim("width of a shared expert's hidden layer")] = None
    d_latent: Annotated[Letter | None, dim("width of the latent that routed experts read")] = None
    expert: Literal["plain", "glu"] = "glu"
    bias: bool = False
    router: bool = True
    router_bias: bool | Literal["buffer"] = False
    shared_bias: bool = False
    shared_gate: bool | Literal["each"] = False
    n_zero: Annotated[Letter | None, dim("experts without weights, beside the routed ones")] = None
    zero_weights: bool = False

    def bound(self, d_model: Letter) -> Self:
        """Checks that shared experts of a width of their own are there."""
        if self.d_shared is not None and self.n_shared is None:
            raise ValueError("d_shared is stated, but n_shared is not: say how many there are")
        return self

    def conditions(self, d_model: Letter) -> list[Condition]:
        """A token uses no more experts than there are."""
        if self.top_k is None:
            return []
        message = "top_k {0} is above n_experts {1}: a token cannot use more experts than there are"
        return [Condition("at most", self.top_k, self._routed, message)]

    def cut(self, layout: Layout) -> Self:
        """Slices of each routed expert unless they are shared out whole; slices of shared ones."""
        if layout.experts.value == 1:
            return self
        wide = self.d_shared or self.d_expert
        shared = share(wide, layout.tp) if self.n_shared is not None else self.d_shared
        routed = self.d_expert if layout.ep else share(self.d_expert, layout.experts)
        return msgspec.structs.replace(self, d_expert=routed, d_shared=shared)

    def weights(self, slot: Slot) -> list[Weight]:
        """The router, the routed experts, and the shared ones."""
        gated, d_model = self.expert == "glu", slot.d_model
        rows, narrow = self._router(d_model), self.d_latent or d_model
        if self.d_latent is not None:
            rows += linear("latent_down", (d_model,), (narrow,), bias=self.shared_bias)
            rows += linear("latent_up", (narrow,), (d_model,), bias=self.shared_bias)
        rows += _network(
            narrow, self.d_expert, gated=gated, bias=self.bias,
            copies=self.n_experts, used=self._used, role="experts",
        )  # fmt: skip
        if self.n_zero is not None and self.zero_weights:
            rows += [
                Weight(name=f"zero_{name}", use="elementwise", inputs=(narrow,),
                       outputs=(self.d_expert,), copies=self.n_zero, used=ZERO, role="experts")
                for name in ("gate", "up")
            ]  # fmt: skip
        if self.n_shared is not None:
            rows += _network(
                d_model, self.d_shared or self.d_expert, gated=gated, bias=self.shared_bias,
                copies=self.n_shared, used=self.n_shared, prefix="shared_", role="shared",
            )  # fmt: skip
        if self.shared_gate:
            gates = self.n_shared if self.shared_gate == "each" else None
            rows += linear("shared_gate_score", (d_model,), (gates or ONE,), role="shared")
        return rows

    def saved(self, slot: Slot, how: Keeping) -> list[Saved] | None:
        """Of a dropless, balanced mixture: router in fp32, sorted tokens, experts, weighting."""
        shared = (self.n_shared, self.d_latent, self.n_zero, self.router_bias, self.shared_gate)
        if any(shared) or self.expert == "plain" or self.bias or not self.router:
            return None
        assert self.top_k is not None
        k, d_model = (self.top_k,), (self.top_k, slot.d_model)
        weights: Kept = "fp32" if how.casts else "compute"
        return [
            *read("input", slot.d_model, how, 1),
            Saved(name="router_probabilities", dims=(self.n_experts,), fmt="fp32"),
            Saved(name="chosen", dims=k, fmt="int64"),
            Saved(name="chosen_probabilities", dims=k, fmt="fp32"),
            Saved(name="chosen_sum", dims=(ONE,), fmt="fp32"),
            Saved(name="order", dims=k, fmt="int64"),
            Saved(name="tokens", dims=k, fmt="int64"),
            Saved(name="weights", dims=k, fmt=weights),
            *(
                Saved(name=f"experts.{row.name}", dims=(*k, *row.dims), copies=row.copies)
                for row in read("input", slot.d_model, how, 2)
            ),
            *(Saved(name=f"experts.{name}", dims=(*k, self.d_expert)) for name in _GATED),
            Saved(name="experts.output", dims=d_model),
            Saved(name="weighted", dims=d_model, fmt="stream"),
        ]

    @property
    def _routed(self) -> Quantity:
        """Everything that a router chooses from."""
        return self.n_experts if self.n_zero is None else self.n_experts + self.n_zero

    @property
    def _used(self) -> Quantity:
        """Routed experts with weights that a token uses."""
        if self.top_k is None:
            return self.n_experts
        if self.n_zero is None:
            return self.top_k
        return product(self.top_k, self.n_experts) / self._routed

    def _router(self, d_model: Quantity) -> list[Weight]:
        experts = (self._routed,)
        rows = linear("router", (d_model,), experts, role="router") if self.router else []
        if self.router_bias:
            use: Use = "buffer" if self.router_bias == "buffer" else "bias"
            rows.append(Weight(name="router_bias", use=use, outputs=experts, role="router"))
        return rows


def _network(
    d_model: Quantity,
    d_ff: Quantity,
    *,
    gated: bool,
    bias: bool,
    copies: Quantity = ONE,
    used: Quantity = ONE,
    prefix: str = "",
    role: Role | None = None,
) -> list[Weight]:
    wide, narrow = (d_ff,), (d_model,)
    ways = [("gate", narrow, wide)] if gated else []
    ways += [("up", narrow, wide), ("down", wide, narrow)]
    return [
        row
        for name, inputs, outputs in ways
        for row in linear(
            prefix + name, inputs, outputs, bias=bias, copies=copies, used=used, role=role
        )
    ]
