"""Indexers: few, narrow heads that score all keys and leave the best to the attention."""

from __future__ import annotations

from typing import Annotated

import msgspec

from txcalc.inventory import Op, State, Weight, linear
from txcalc.parts.base import Place, dim
from txcalc.parts.norm import Norm, norm_weights
from txcalc.quantity import ONE, ZERO, Letter, Quantity, product

Heads = Annotated[Letter, dim("heads of the indexer")]
Width = Annotated[Letter, dim("width of one head of the indexer")]


class Indexer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores all keys and keeps the best, arXiv:2512.02556 section 2.1.

    A key's score is the heads' scores weighted by the query's token.
    """

    index_heads: Heads
    index_dim: Width
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
        """Queries with all keys, and the weighted sum over heads."""
        return Op(name="index_scores", heads=self.index_heads, d_qk=self.index_dim, d_v=ONE)

    def state(self) -> State:
        """The key of every token."""
        return State(name="index_keys", width=self.index_dim)


class BlockIndexer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores all keys and keeps the blocks with the best ones, as MiniMax-M3's published code."""

    index_heads: Heads
    index_dim: Width
    index_block: Annotated[Letter, dim("keys of one block")]
    index_top_k: Annotated[Letter, dim("blocks that the indexer leaves to a query")]

    @property
    def window(self) -> Quantity:
        """Keys that a query meets at most."""
        return product(self.index_top_k, self.index_block)

    def weights(self, place: Place) -> list[Weight]:
        """Queries, one key a token, and their norms."""
        d_model = (place.d_model,)
        return [
            *linear("indexer_q", d_model, (self.index_heads, self.index_dim)),
            *linear("indexer_k", d_model, (self.index_dim,)),
            *norm_weights("rms", "indexer_q_norm", self.index_dim),
            *norm_weights("rms", "indexer_k_norm", self.index_dim),
        ]

    def operation(self) -> Op:
        """Queries with all keys."""
        return Op(name="index_scores", heads=self.index_heads, d_qk=self.index_dim, d_v=ZERO)

    def state(self) -> State:
        """The key of every token."""
        return State(name="index_keys", width=self.index_dim)
