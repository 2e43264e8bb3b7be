"""Multi-head latent attention, with or without an indexer that picks the keys."""

from __future__ import annotations

from typing import Annotated

import msgspec

from txcalc.inventory import Op, Scan, State, Weight, linear
from txcalc.parts.base import Part, Place, dim
from txcalc.parts.norm import Norm, norm_weights
from txcalc.quantity import ZERO, Letter


class Indexer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores all keys with few, narrow heads and keeps the best, arXiv:2512.02556 section 2.1."""

    index_heads: Annotated[Letter, dim("heads of the indexer")]
    index_dim: Annotated[Letter, dim("width of one head of the indexer")]
    index_top_k: Annotated[Letter, dim("keys that the indexer leaves to a query")]
    norm: Norm = "layer"

    def weights(self, place: Place, q_rank: Letter) -> list[Weight]:
        """Queries from the query latent, one key a token, and a weight for each head."""
        d_model = (place.d_model,)
        return [
            *linear("indexer_q", (q_rank,), (self.index_heads, self.index_dim)),
            *linear("indexer_k", d_model, (self.index_dim,)),
            *norm_weights(self.norm, "indexer_k_norm", self.index_dim),
            *linear("indexer_weights", d_model, (self.index_heads,)),
        ]

    def operation(self) -> Op:
        """Queries with all keys, and no values."""
        return Op(name="index_scores", heads=self.index_heads, d_qk=self.index_dim, d_v=ZERO)

    def state(self) -> State:
        """The key of every token."""
        return State(name="index_keys", width=self.index_dim)


class Latent(Part, frozen=True, kw_only=True, tag="mla"):
    """Keys and values expanded from one latent a token, arXiv:2405.04434 section 2.1.

    The query has a latent of its own where ``q_rank`` is given.  A head's query and key are
    nope_dim channels and rope_dim rotary ones; the rotary key is shared by all heads.
    """

    n_heads: Annotated[Letter, dim("query heads")]
    q_rank: Annotated[Letter | None, dim("width of the query latent")] = None
    kv_rank: Annotated[Letter, dim("width of the key and value latent")]
    nope_dim: Annotated[Letter, dim("channels of a head's key without position")]
    rope_dim: Annotated[Letter, dim("rotary channels of a head's key")]
    v_dim: Annotated[Letter, dim("width of one value head")]
    bias: bool = False
    o_bias: bool = False
    window: Annotated[Letter | None, dim("keys a query may meet, itself included")] = None
    indexer: Indexer | None = None

    def bound(self, d_model: Letter) -> Latent:
        """Checks that an indexer has the query latent that it reads."""
        if self.indexer is not None and self.q_rank is None:
            raise ValueError("an indexer reads the query latent: state q_rank")
        return self

    def weights(self, place: Place) -> list[Weight]:
        """Down to the latents, their norms, and up to the heads."""
        d_model, q_width = (place.d_model,), (self.n_heads, self.nope_dim + self.rope_dim)
        if self.q_rank is None:
            rows = linear("q", d_model, q_width)
        else:
            rows = linear("q_down", d_model, (self.q_rank,), bias=self.bias)
            rows += norm_weights("rms", "q_norm", self.q_rank)
            rows += linear("q_up", (self.q_rank,), q_width)
        rows += linear("kv_down", d_model, (self.kv_rank + self.rope_dim,), bias=self.bias)
        rows += norm_weights("rms", "kv_norm", self.kv_rank)
        latent = (self.kv_rank,)
        rows += linear("k_up", latent, (self.n_heads, self.nope_dim), stream="latent")
        rows += linear("v_up", latent, (self.n_heads, self.v_dim), stream="latent")
        rows += linear("o", (self.n_heads, self.v_dim), d_model, bias=self.bias or self.o_bias)
        if self.indexer is not None and self.q_rank is not None:
            rows += self.indexer.weights(place, self.q_rank)
        return rows

    def operations(self, place: Place) -> list[Op | Scan]:
        """Queries with keys and probabilities with values, or both with the latents."""
        index = [] if self.indexer is None else [self.indexer.operation()]
        window = self.window if self.indexer is None else self.indexer.index_top_k
        return [
            *index,
            Op(name="scores", heads=self.n_heads, d_qk=self.nope_dim + self.rope_dim,
               d_v=self.v_dim, window=window,
               latent=(self.kv_rank + self.rope_dim, self.kv_rank)),
        ]  # fmt: skip

    def state(self, place: Place) -> list[State]:
        """The latent and the rotary key of every token, and the indexer's key."""
        index = [] if self.indexer is None else [self.indexer.state()]
        return [
            State(name="latent", width=self.kv_rank, window=self.window),
            State(name="rotary_key", width=self.rope_dim, window=self.window),
            *index,
        ]
