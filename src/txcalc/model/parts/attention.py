"""Softmax attention with a key and value head for each query head, or for each group of them."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

import msgspec

from txcalc.exact.condition import Condition
from txcalc.exact.quantity import ONE, TWO, Letter, Quantity, const, defined, product
from txcalc.model.parts.base import Division, HeadDim, Part, Slot, dim, read
from txcalc.model.parts.indexer import BlockIndexer
from txcalc.model.parts.norm import Norm, norm_weights
from txcalc.model.rows import Op, Scan, State, Weight, linear
from txcalc.model.saved import Keeping, Kept, Saved
from txcalc.workload.passes import Stream
from txcalc.workload.reach import SOURCE, Attends, Chunk, Reach, Square, within

Projection = Literal["q", "k", "v", "o", "gate"]


class MultiHead(Part, frozen=True, kw_only=True, tag="mha"):
    """Multi-head attention, arXiv:1706.03762 section 3.2.2.

    Biases stand on all projections (``true``) or on those listed.  ``qk_norm`` normalises queries
    and keys: ``head`` with one weight of head_dim for all heads, ``width`` with one for every
    channel; ``qk_norm_kind`` is its kind.  A query attends to the keys of its ``window``, those
    before it in its ``chunk``, of an image those in its ``square``, or those that an ``indexer``
    leaves; a cache keeps the window, or so many tokens as are ``kept``.  ``gated`` doubles the
    query projection for a gate of the output, or has one gate a ``head``; ``sinks`` are one learned
    score a head.  ``k_is_v`` has one projection for keys and values; with ``shares_kv`` the layer
    takes another one's, and has and keeps none.  ``differential`` heads attend to the values of a
    pair of heads, of which one is subtracted from the other by a learned share (arXiv:2410.05258).
    What is projected may be wider than the stream: ``d_in`` (Zamba, arXiv:2405.16712).  ``merged``
    queries attend to the encoder's tokens as well, by the same weights (T5Gemma 2,
    arXiv:2512.14856).
    """

    divided: ClassVar[Mapping[str, Division] | None] = {"n_heads": "even"}
    last_product: ClassVar[str | None] = "o"

    n_heads: Annotated[Letter, dim("query heads")]
    head_dim: HeadDim = None
    d_in: Annotated[Letter | None, dim("channels projected; d_model where left out")] = None
    v_dim: Annotated[Letter | None, dim("width of one value head; head_dim where left out")] = None
    bias: bool | list[Projection] = False
    qk_norm: Literal["none", "head", "width"] = "none"
    qk_norm_kind: Norm = "rms"
    window: Annotated[Letter | None, dim("keys that a query attends to, itself included")] = None
    kept: Annotated[Letter | None, dim("tokens that the cache keeps of a window")] = None
    chunk: Annotated[Letter | None, dim("tokens of a chunk, attending to each other alone")] = None
    square: Annotated[
        Letter | None, dim("patches on a side of a square that attend to each other")
    ] = None
    gated: bool | Literal["head"] = False
    sinks: bool = False
    k_is_v: bool = False
    shares_kv: bool = False
    differential: bool = False
    merged: bool = False
    indexer: BlockIndexer | None = None

    @property
    def kv_heads(self) -> Letter:
        """The letter that counts key and value heads."""
        return self.n_heads

    @property
    def d_qk(self) -> Letter:
        """Width of one query and key head, which a bound part always knows."""
        assert self.head_dim is not None
        return self.head_dim

    @property
    def d_v(self) -> Letter:
        """Width of one value head."""
        return self.v_dim or self.d_qk

    @property
    def reach(self) -> Attends:
        """The keys of the stack's own tokens that a query attends to."""
        if self.indexer is not None:
            return self.indexer.reach
        if self.square is not None:
            return Square(self.square)
        return within(self.window) if self.chunk is None else Chunk(self.chunk)

    def bound(self, d_model: Letter) -> Self:
        """Defines head_dim where the description leaves it out."""
        bounds = [n for n in ("window", "chunk", "square") if getattr(self, n) is not None]
        if len(bounds) > 1:
            both = " and ".join(bounds)
            raise ValueError(f"{both} are both stated: a query's keys are bound by one")
        if self.indexer is not None and bounds:
            raise ValueError("indexer is stated beside window or chunk: keys are bound by one")
        if self.kept is not None and self.window is None:
            raise ValueError("kept is stated, but no window: a cache without one keeps all tokens")
        if self.head_dim is not None:
            return self
        return msgspec.structs.replace(self, head_dim=defined("head_dim", d_model / self.n_heads))

    def conditions(self, d_model: Letter) -> list[Condition]:
        """A head_dim that is left out is whole, a window finds its keys, a gate its values."""
        found = []
        if self.d_qk.definition is not None:
            message = "head_dim is left out, but d_model {0} is no multiple of n_heads {1}: "
            found.append(Condition("multiple", d_model, self.n_heads, message + "state head_dim"))
        if self.kept is not None and self.window is not None:
            message = "kept {1} is below the {0} tokens of the window before a query: it could not "
            before = self.window - ONE
            found.append(Condition("at most", before, self.kept, message + "attend to them"))
        if self.gated is True and self.v_dim is not None:
            gate = (
                "gated is stated with v_dim {v_dim}, but the gate, which is as wide as a query's "
                "head, multiplies values: v_dim {width} would do"
            )
            wide, narrow = (
                gate.format(v_dim=v, width=w) for v, w in (("{0}", "{1}"), ("{1}", "{0}"))
            )
            found += [
                Condition("at most", self.v_dim, self.d_qk, wide),
                Condition("at most", self.d_qk, self.v_dim, narrow),
            ]
        return found

    def weights(self, slot: Slot) -> list[Weight]:
        """q, k, v and o, biases, and the norms of queries and keys."""
        d_in, queries = (self.d_in or slot.d_model,), (self.n_heads, self.d_qk)
        rows = linear("q", d_in, queries, bias=self._biased("q"))
        if self.gated:
            gates = queries[:1] if self.gated == "head" else queries
            rows += linear("gate", d_in, gates, bias=self._biased("gate"))
        rows += self._keys_and_values(slot)
        if self.indexer is not None:
            rows += self.indexer.weights(slot)
        rows += linear("o", (self.n_heads, self.d_v), (slot.d_model,), bias=self._biased("o"))
        rows += self._norms()
        if self.sinks:
            rows.append(Weight(name="sinks", use="elementwise", outputs=(self.n_heads,)))
        if self.differential:
            lambdas = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")
            rows += [Weight(name=n, use="elementwise", outputs=(self.d_qk,)) for n in lambdas]
        return rows

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """Queries with keys, and probabilities with values."""
        index = [] if self.indexer is None else [self.indexer.operation()]
        values = product(TWO, self.d_v) if self.differential else self.d_v
        scores = Op(name="scores", heads=self.n_heads, d_qk=self.d_qk, d_v=values,
                    reach=SOURCE if slot.stream == "source" else self.reach)  # fmt: skip
        if not self.merged:
            return [*index, scores]
        return [*index, scores, msgspec.structs.replace(scores, name="source_scores", reach=SOURCE)]

    def saved(self, slot: Slot, how: Keeping) -> list[Saved] | None:
        """Input, queries, keys, values and output; scores, or of flash attention their sums."""
        special = (self.window, self.chunk, self.square, self.indexer, self.d_in, self.v_dim)
        flags = (self.gated, self.sinks, self.k_is_v, self.shares_kv, self.differential)
        if any(special) or any(flags) or self.merged or self.qk_norm != "none":
            return None
        return [*read("input", slot.d_model, how, 3 if how.rotary else 1), *self._core(how)]

    def _core(self, how: Keeping) -> list[Saved]:
        heads: tuple[Quantity, ...] = (self.n_heads,)
        repeated = self.n_heads if how.kernel == "eager" else self.kv_heads
        rows = [
            Saved(name="queries", dims=(self.n_heads, self.d_qk)),
            Saved(name="keys", dims=(repeated, self.d_qk)),
            Saved(name="values", dims=(repeated, self.d_v)),
            Saved(name="output", dims=(self.n_heads, self.d_v)),
        ]
        if how.kernel == "flash":
            rows.append(Saved(name="log_sum_exp", dims=heads, fmt="fp32"))
            rows.append(Saved(name="generator", dims=(const(3),), fmt="int64", span="once"))
        else:
            rows += self._scores(heads, how)
        return rows

    def _scores(self, heads: tuple[Quantity, ...], how: Keeping) -> list[Saved]:
        """Probabilities, and what dropout or a cast makes of them."""
        wide = how.casts or (how.rotary and not how.is_fp32)
        fmt: Kept = "fp32" if wide else "compute"
        rows = [Saved(name="probabilities", dims=heads, fmt=fmt, span="pairs", core=True)]
        if how.dropout:
            rows.append(Saved(name="scores_mask", dims=heads, fmt="byte", span="pairs", core=True))
        if how.dropout or wide:
            rows.append(Saved(name="read", dims=heads, span="pairs", core=True))
        return rows

    def state(self, slot: Slot) -> list[State]:
        """The keys and values of every token in reach."""
        if self.shares_kv:
            return []
        index = [] if self.indexer is None else [self.indexer.state()]
        own = within(self.kept or self.window or self.chunk)
        reach: Reach = SOURCE if slot.stream == "source" else own
        across = self._pair("source_", SOURCE) if self.merged else []
        return [*self._pair("", reach), *across, *index]

    def _pair(self, prefix: str, reach: Reach) -> list[State]:
        widths: dict[str, Quantity] = {"keys": self.d_qk, "values": self.d_v}
        return [
            State(name=prefix + name, dims=(self.kv_heads, width), reach=reach)
            for name, width in widths.items()
        ]

    def _keys_and_values(self, slot: Slot) -> list[Weight]:
        if self.shares_kv:
            return []
        d_in, kv = (self.d_in or slot.keys_from,), self.kv_heads
        bias_k, bias_v = self._biased("k"), self._biased("v")
        stream: Stream = "both" if self.merged else slot.stream
        rows = linear("k", d_in, (kv, self.d_qk), bias=bias_k, stream=stream)
        if not self.k_is_v:
            rows += linear("v", d_in, (kv, self.d_v), bias=bias_v, stream=stream)
        return rows

    def _biased(self, projection: Projection) -> bool:
        return self.bias if isinstance(self.bias, bool) else projection in self.bias

    def _norms(self) -> list[Weight]:
        if self.qk_norm == "none":
            return []
        heads = {"q": self.n_heads} if self.shares_kv else {"q": self.n_heads, "k": self.kv_heads}
        return [
            row
            for name, n in heads.items()
            for row in norm_weights(
                self.qk_norm_kind,
                f"{name}_norm",
                *((n, self.d_qk) if self.qk_norm == "width" else (self.d_qk,)),
            )
        ]


class GroupedQuery(MultiHead, frozen=True, kw_only=True, tag="gqa"):
    """Grouped-query attention, arXiv:2305.13245; multi-query (arXiv:1911.02150) is one KV head."""

    divided: ClassVar[Mapping[str, Division] | None] = {"n_heads": "even", "n_kv_heads": "repeat"}

    n_kv_heads: Annotated[Letter, dim("key and value heads, each shared by a group of query heads")]

    @property
    def kv_heads(self) -> Letter:
        """The letter that counts key and value heads."""
        return self.n_kv_heads

    def conditions(self, d_model: Letter) -> list[Condition]:
        """Also, the query heads fall into equal groups."""
        message = (
            "n_heads {0} is no multiple of n_kv_heads {1}: "
            "each KV head serves an equal group of query heads"
        )
        groups = Condition("multiple", self.n_heads, self.n_kv_heads, message)
        return [groups, *super().conditions(d_model)]
