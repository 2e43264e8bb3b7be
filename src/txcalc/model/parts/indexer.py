"""Indexers: few, narrow heads that score all keys and leave the best to the attention."""

from typing import Annotated

import msgspec

from txcalc.exact.quantity import ONE, TWO, ZERO, Letter, product
from txcalc.model.parts.base import Slot, dim
from txcalc.model.parts.norm import Norm, norm_weights
from txcalc.model.rows import Op, State, Weight, linear
from txcalc.workload.reach import ALL, Entries, Open, Window

Heads = Annotated[Letter, dim("heads of the indexer")]
Width = Annotated[Letter, dim("width of one head of the indexer")]


class Indexer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores all keys and keeps the best, arXiv:2512.02556 section 2.1.

    A key's score is the heads' scores weighted by the query's token.  With a ``pool`` it scores one
    key for so many tokens, their mean weighted by a gate and by the position; the tokens of a pool
    that is not complete are attended to as well.
    """

    index_heads: Heads
    index_dim: Width
    index_top_k: Annotated[Letter, dim("keys that the indexer leaves to a query")]
    pool: Annotated[Letter | None, dim("tokens whose keys are pooled into one")] = None
    norm: Norm = "layer"

    @property
    def reach(self) -> Window:
        """Keys that are left to a query."""
        if self.pool is None:
            return Window(self.index_top_k)
        return Window(self.index_top_k + self.pool - ONE)

    def weights(self, slot: Slot, q_rank: Letter) -> list[Weight]:
        """Queries from the query latent, one key a token, and a weight for each head."""
        d_model = (slot.d_model,)
        return [
            *linear("indexer_q", (q_rank,), (self.index_heads, self.index_dim)),
            *linear("indexer_k", d_model, (self.index_dim,)),
            *norm_weights(self.norm, "indexer_k_norm", self.index_dim),
            *linear("indexer_weights", d_model, (self.index_heads,)),
            *self._pooling(slot),
        ]

    def _pooling(self, slot: Slot) -> list[Weight]:
        if self.pool is None:
            return []
        positions = (self.pool, self.index_dim)
        return [
            *linear("indexer_gate", (slot.d_model,), (self.index_dim,)),
            Weight(name="indexer_positions", use="elementwise", outputs=positions),
        ]

    def operation(self) -> Op:
        """Queries with all keys, and the weighted sum over heads."""
        reach = ALL if self.pool is None else Entries(self.pool)
        return Op(name="index_scores", heads=self.index_heads, d_qk=self.index_dim, d_v=ONE,
                  reach=reach)  # fmt: skip

    def state(self) -> list[State]:
        """The key of every token or pool, and keys and gates of the pool that is not complete."""
        if self.pool is None:
            return [State(name="index_keys", dims=(self.index_dim,))]
        return [
            State(name="index_keys", dims=(self.index_dim,), reach=Entries(self.pool)),
            State(name="index_open", dims=(TWO, self.index_dim), reach=Open(self.pool)),
        ]


class BlockIndexer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores all keys and keeps the blocks with the best ones, as MiniMax-M3's published code."""

    index_heads: Heads
    index_dim: Width
    index_block: Annotated[Letter, dim("keys of one block")]
    index_top_k: Annotated[Letter, dim("blocks that the indexer leaves to a query")]

    @property
    def reach(self) -> Window:
        """Keys that are left to a query."""
        return Window(product(self.index_top_k, self.index_block))

    def weights(self, slot: Slot) -> list[Weight]:
        """Queries, one key a token, and their norms."""
        d_model = (slot.d_model,)
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
        return State(name="index_keys", dims=(self.index_dim,))
