"""Attention over a window and over compressed entries of everything before it."""

from typing import Annotated, Self

import msgspec

from txcalc.exact.condition import Condition
from txcalc.exact.quantity import ONE, TWO, ZERO, Letter, Quantity, product
from txcalc.model.parts.base import Part, Slot, dim
from txcalc.model.parts.norm import norm_weights
from txcalc.model.rows import Op, Scan, State, Weight, linear
from txcalc.workload.reach import FIXED, Attends, Entries, Open, Window


class EntryIndexer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores compressed keys of its own and keeps the best entries."""

    index_heads: Annotated[Letter, dim("heads of the indexer")]
    index_dim: Annotated[Letter, dim("width of one head of the indexer")]
    index_top_k: Annotated[Letter, dim("entries that the indexer leaves to a query")]


class Compressed(Part, frozen=True, kw_only=True, tag="compressed"):
    """One shared head of keys that are values too, as in DeepSeek-V4's technical report, section 2.

    A query attends to the tokens of its ``window`` and, with a ``block``, to one entry for each
    complete block of tokens: a mean of their projections, weighted by a gate and by the position in
    the block.  Entries that ``overlap`` take in the block before as well, by projections of their
    own; an ``indexer`` leaves some of the entries to a query.  The output is projected in groups of
    heads to ``o_rank`` each, then to the stream.

    A layer without entries keeps its window as keys and as values, as any other one does; beside
    entries it is kept once.
    """

    n_heads: Annotated[Letter, dim("query heads")]
    head_dim: Annotated[Letter, dim("width of one head")]
    q_rank: Annotated[Letter, dim("width of the query latent")]
    o_groups: Annotated[Letter, dim("groups of heads in the output projection")]
    o_rank: Annotated[Letter, dim("channels that a group of heads is projected to")]
    window: Annotated[Letter, dim("keys that a query attends to, itself included")]
    block: Annotated[Letter | None, dim("tokens that a compressed entry stands for")] = None
    overlap: bool = False
    indexer: EntryIndexer | None = None

    def bound(self, d_model: Letter) -> Self:
        """Checks that what belongs to entries has some."""
        if self.block is None and (self.overlap or self.indexer is not None):
            raise ValueError("overlap or an indexer is stated, but no block: there are no entries")
        return self

    def conditions(self, d_model: Letter) -> list[Condition]:
        """The groups of heads are equal."""
        message = (
            "n_heads * head_dim is {0}, no multiple of o_groups {1}: "
            "each group of the output projection reads as many channels"
        )
        width = product(self.n_heads, self.head_dim)
        return [Condition("multiple", width, self.o_groups, message)]

    def weights(self, slot: Slot) -> list[Weight]:
        """Queries by their latent, the shared key, the grouped output, sinks and entries."""
        d_model, latent = (slot.d_model,), (self.q_rank,)
        group = (product(self.n_heads, self.head_dim) / self.o_groups,)
        rows = linear("q_down", d_model, latent)
        rows += norm_weights("rms", "q_norm", self.q_rank)
        rows += linear("q_up", latent, (self.n_heads, self.head_dim))
        rows += linear("kv", d_model, (self.head_dim,))
        rows += norm_weights("rms", "kv_norm", self.head_dim)
        if self.block is not None:
            rows += self._compressor("entry_", self.block, self.head_dim, slot)
        if self.block is not None and self.indexer is not None:
            heads, width = self.indexer.index_heads, self.indexer.index_dim
            rows += self._compressor("indexer_", self.block, width, slot)
            rows += linear("indexer_q", latent, (heads, width))
            rows += linear("indexer_weights", d_model, (heads,))
        rows += linear("o_down", group, (self.o_rank,), copies=self.o_groups, used=self.o_groups)
        rows += linear("o_up", (self.o_groups, self.o_rank), d_model)
        rows.append(Weight(name="sinks", use="elementwise", outputs=(self.n_heads,)))
        return rows

    def _compressor(self, prefix: str, block: Letter, width: Letter, slot: Slot) -> list[Weight]:
        """Projections of a token's part in its entry and of its weight, and the entry's norm."""
        d_model, parts = (slot.d_model,), (self._series, width)
        return [
            *linear(f"{prefix}kv", d_model, parts),
            *linear(f"{prefix}gate", d_model, parts),
            Weight(name=f"{prefix}positions", use="elementwise", outputs=(block, *parts)),
            *norm_weights("rms", f"{prefix}norm", width),
        ]

    @property
    def _series(self) -> Quantity:
        """Entries that a token goes into."""
        return TWO if self.overlap else ONE

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """Queries with the window, with the indexer's keys, and with the entries that are left.

        The indexer's sum over heads is elementwise.
        """
        ops: list[Op | Scan] = []
        top_k = None
        if self.block is not None and self.indexer is not None:
            top_k = self.indexer.index_top_k
            ops.append(
                Op(name="index_scores", heads=self.indexer.index_heads,
                   d_qk=self.indexer.index_dim, d_v=ZERO, reach=Entries(self.block))
            )  # fmt: skip
        if self.block is not None:
            ops.append(self._scores("entry_scores", Entries(self.block, top_k)))
        return [*ops, self._scores("scores", Window(self.window))]

    def _scores(self, name: str, reach: Attends) -> Op:
        return Op(name=name, heads=self.n_heads, d_qk=self.head_dim, d_v=self.head_dim,
                  reach=reach)  # fmt: skip

    def state(self, slot: Slot) -> list[State]:
        """The window, the entries, and what their next ones are made of."""
        names = ("keys", "values") if self.block is None else ("keys",)
        kept = [
            State(name=name, dims=(self.head_dim,), reach=Window(self.window)) for name in names
        ]
        if self.block is not None:
            kept += self._entries("entries", self.block, self.head_dim)
        if self.block is not None and self.indexer is not None:
            kept += self._entries("index_entries", self.block, self.indexer.index_dim)
        return kept

    def _entries(self, name: str, block: Letter, width: Letter) -> list[State]:
        """Entries; projections and gates of the open block; of the one before, if they overlap."""
        ours = [
            State(name=name, dims=(width,), reach=Entries(block)),
            State(name=f"{name}_open", dims=(TWO, self._series, width), reach=Open(block)),
        ]
        if not self.overlap:
            return ours
        return [
            *ours,
            State(name=f"{name}_before", dims=(block, width), reach=FIXED),
            State(name=f"{name}_before_gate", dims=(block, width), reach=FIXED, fmt="fp32"),
        ]
