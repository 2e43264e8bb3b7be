"""Mixture of attention heads: a router gives each token its experts' queries."""

from typing import Annotated

from txcalc.exact.condition import Condition
from txcalc.exact.quantity import Letter, product
from txcalc.model.parts.base import Part, Slot, dim
from txcalc.model.rows import Op, Scan, State, Weight, linear


class MixtureOfAttention(Part, frozen=True, kw_only=True, tag="moa"):
    """Experts that project queries and outputs, over keys and values for all: arXiv:2210.05144.

    An expert has a query head for each key and value head; a token uses ``top_k`` experts.  One
    ``bias`` stands after the sum of their outputs (arXiv:2404.07413 section 2.2).
    """

    n_experts: Annotated[Letter, dim("experts, each with query and output projections")]
    top_k: Annotated[Letter, dim("experts that a token uses")]
    n_kv_heads: Annotated[Letter, dim("key and value heads, and an expert's query heads")]
    head_dim: Annotated[Letter, dim("width of one head")]
    bias: bool = False

    def conditions(self, d_model: Letter) -> list[Condition]:
        """A token uses no more experts than there are."""
        message = "top_k {0} is above n_experts {1}"
        return [Condition("at most", self.top_k, self.n_experts, message)]

    def weights(self, slot: Slot) -> list[Weight]:
        """The router, the experts' q and o, and k and v."""
        d_model, heads = (slot.d_model,), (self.n_kv_heads, self.head_dim)
        rows = linear("router", d_model, (self.n_experts,), role="router")
        rows += linear("q", d_model, heads, copies=self.n_experts, used=self.top_k)
        rows += linear("k", d_model, heads) + linear("v", d_model, heads)
        rows += linear("o", heads, d_model, copies=self.n_experts, used=self.top_k)
        if self.bias:
            rows.append(Weight(name="o_bias", use="bias", outputs=d_model))
        return rows

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """Each expert's queries with keys, and probabilities with values."""
        heads = product(self.top_k, self.n_kv_heads)
        return [Op(name="scores", heads=heads, d_qk=self.head_dim, d_v=self.head_dim)]

    def state(self, slot: Slot) -> list[State]:
        """The keys and values of every token."""
        dims = (self.n_kv_heads, self.head_dim)
        return [State(name=name, dims=dims) for name in ("keys", "values")]
