"""Multi-head latent attention, with or without an indexer that picks the keys."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from txcalc.exact.quantity import TWO, Letter, Quantity, product
from txcalc.model.parts.base import Division, Part, Slot, dim
from txcalc.model.parts.indexer import Indexer
from txcalc.model.parts.norm import norm_weights
from txcalc.model.rows import Op, Scan, State, Weight, linear
from txcalc.workload.reach import within


class Latent(Part, frozen=True, kw_only=True, tag="mla"):
    """Keys and values expanded from one latent a token, arXiv:2405.04434 section 2.1.

    The query has a latent of its own where ``q_rank`` is given.  A head's query and key are
    nope_dim channels and rope_dim rotary ones; the rotary key is shared by all heads, and may have
    a norm, ``rope_norm``.  The output may have a gate for each ``head``, for each ``channel``, or
    one that the ``query``'s projection makes as well, from its latent before and after the norm.
    Without an indexer a query may be left ``shared_top_k`` keys by an earlier layer's.
    """

    divided: ClassVar[Mapping[str, Division] | None] = {"n_heads": "even"}

    n_heads: Annotated[Letter, dim("query heads")]
    q_rank: Annotated[Letter | None, dim("width of the query latent")] = None
    kv_rank: Annotated[Letter, dim("width of the key and value latent")]
    nope_dim: Annotated[Letter, dim("channels of a head's key without position")]
    rope_dim: Annotated[Letter | None, dim("rotary channels of a head's key")] = None
    v_dim: Annotated[Letter, dim("width of one value head")]
    bias: bool = False
    o_bias: bool = False
    rope_norm: bool = False
    gate: Literal["none", "head", "channel", "query"] = "none"
    sinks: bool = False
    window: Annotated[Letter | None, dim("keys that a query attends to, itself included")] = None
    indexer: Indexer | None = None
    shared_top_k: Annotated[
        Letter | None, dim("keys that an earlier layer's indexer leaves to a query")
    ] = None

    def bound(self, d_model: Letter) -> Self:
        """Checks that an indexer or a gate has the query latent that it reads."""
        if self.indexer is not None and self.q_rank is None:
            raise ValueError("an indexer reads the query latent: state q_rank")
        if self.gate == "query" and self.q_rank is None:
            raise ValueError("a gate of the query's projection reads its latent: state q_rank")
        if self.rope_norm and self.rope_dim is None:
            raise ValueError("rope_norm is stated, but no rope_dim: there is no rotary key")
        if self.indexer is not None and self.shared_top_k is not None:
            raise ValueError("indexer and shared_top_k are both stated: keys are picked once")
        return self

    def weights(self, slot: Slot) -> list[Weight]:
        """Down to the latents, their norms, and up to the heads."""
        d_model = (slot.d_model,)
        rows = self._queries(slot)
        rows += linear("kv_down", d_model, (self._with_rotary(self.kv_rank),), bias=self.bias)
        rows += norm_weights("rms", "kv_norm", self.kv_rank)
        if self.rope_norm and self.rope_dim is not None:
            rows += norm_weights("rms", "rope_norm", self.rope_dim)
        rows += [self._up("k_up", self.nope_dim), self._up("v_up", self.v_dim)]
        if self.gate in ("head", "channel"):
            gates = (self.n_heads,) if self.gate == "head" else (self.n_heads, self.v_dim)
            rows += linear("gate", d_model, gates)
        if self.indexer is not None and self.q_rank is not None:
            rows += self.indexer.weights(slot, self.q_rank)
        rows += linear("o", (self.n_heads, self.v_dim), d_model, bias=self.bias or self.o_bias)
        if self.sinks:
            rows.append(Weight(name="sinks", use="elementwise", outputs=(self.n_heads,)))
        return rows

    def _queries(self, slot: Slot) -> list[Weight]:
        d_model, width = (slot.d_model,), self._with_rotary(self.nope_dim)
        if self.q_rank is None:
            return linear("q", d_model, (self.n_heads, width))
        rows = linear("q_down", d_model, (self.q_rank,), bias=self.bias)
        rows += norm_weights("rms", "q_norm", self.q_rank)
        if self.gate == "query":
            both = (product(TWO, self.q_rank),)
            return rows + linear("q_up", both, (self.n_heads, width + self.v_dim))
        return rows + linear("q_up", (self.q_rank,), (self.n_heads, width))

    def _with_rotary(self, width: Letter) -> Quantity:
        return width if self.rope_dim is None else width + self.rope_dim

    def _up(self, name: str, width: Quantity) -> Weight:
        return Weight(
            name=name, use="matmul", inputs=(self.kv_rank,), outputs=(self.n_heads, width),
            stream="latent", reach=within(self.window),
        )  # fmt: skip

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """Queries with keys and probabilities with values, or both with the latents."""
        index = [] if self.indexer is None else [self.indexer.operation()]
        picked = within(self.shared_top_k or self.window)
        return [
            *index,
            Op(name="scores", heads=self.n_heads, d_qk=self._with_rotary(self.nope_dim),
               d_v=self.v_dim, reach=picked if self.indexer is None else self.indexer.reach,
               latent=(self._with_rotary(self.kv_rank), self.kv_rank)),
        ]  # fmt: skip

    def state(self, slot: Slot) -> list[State]:
        """The latent and the rotary key of every token, and the indexer's key."""
        kept = [State(name="latent", dims=(self.kv_rank,), reach=within(self.window))]
        if self.rope_dim is not None:
            kept.append(State(name="rotary_key", dims=(self.rope_dim,), reach=within(self.window)))
        return kept if self.indexer is None else kept + self.indexer.state()
