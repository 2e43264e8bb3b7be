"""Softmax attention with a key and value head for each query head, or for each group of them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import msgspec

from txcalc.inventory import Op, State, Weight, linear
from txcalc.parts.base import HeadDim, Part, Place, dim
from txcalc.parts.norm import norm_weights
from txcalc.quantity import Letter, defined, product

Projection = Literal["q", "k", "v", "o"]


class MultiHead(Part, frozen=True, kw_only=True, tag="mha"):
    """Multi-head attention, arXiv:1706.03762 section 3.2.2.

    Biases stand on all four projections (``true``) or on those listed.  ``qk_norm`` normalises
    queries and keys: ``head`` with one weight of head_dim for all heads, ``width`` with one for
    every channel.  A ``window`` is how many keys a query may meet, itself included.
    """

    n_heads: Annotated[Letter, dim("query heads")]
    head_dim: HeadDim = None
    bias: bool | list[Projection] = False
    qk_norm: Literal["none", "head", "width"] = "none"
    window: Annotated[Letter | None, dim("keys a query may meet, itself included")] = None

    @property
    def kv_heads(self) -> Letter:
        """The letter that counts key and value heads."""
        return self.n_heads

    def bound(self, d_model: Letter) -> Self:
        """Defines head_dim where the description leaves it out."""
        if self.head_dim is not None:
            return self
        if d_model.value % self.n_heads.value:
            raise ValueError(
                f"head_dim is left out, but d_model {d_model.value} is no multiple of "
                f"n_heads {self.n_heads.value}: state head_dim"
            )
        return msgspec.structs.replace(self, head_dim=defined("head_dim", d_model / self.n_heads))

    def weights(self, place: Place) -> list[Weight]:
        """q, k, v and o, biases, and the norms of queries and keys."""
        d_model, heads, kv = (place.d_model,), (self.n_heads, self.width), self._kv
        stream = place.stream
        return [
            *linear("q", d_model, heads, bias=self._biased("q")),
            *linear("k", d_model, kv, bias=self._biased("k"), stream=stream),
            *linear("v", d_model, kv, bias=self._biased("v"), stream=stream),
            *linear("o", heads, d_model, bias=self._biased("o")),
            *self._norms(),
        ]

    def operations(self, place: Place) -> list[Op]:
        """Queries with keys, and probabilities with values."""
        return [
            Op(name="scores", heads=self.n_heads, d_qk=self.width, d_v=self.width,
               window=self.window, stream=place.stream)
        ]  # fmt: skip

    def state(self, place: Place) -> list[State]:
        """The keys and values of every token in reach."""
        width = product(*self._kv)
        return [
            State(name=name, width=width, span=place.stream, window=self.window)
            for name in ("keys", "values")
        ]

    @property
    def width(self) -> Letter:
        """head_dim, which a bound part always has."""
        assert self.head_dim is not None
        return self.head_dim

    @property
    def _kv(self) -> tuple[Letter, Letter]:
        return self.kv_heads, self.width

    def _biased(self, projection: Projection) -> bool:
        return self.bias if isinstance(self.bias, bool) else projection in self.bias

    def _norms(self) -> list[Weight]:
        match self.qk_norm:
            case "none":
                return []
            case "head":
                return [*norm_weights("rms", "q_norm", self.width),
                        *norm_weights("rms", "k_norm", self.width)]  # fmt: skip
            case "width":
                return [*norm_weights("rms", "q_norm", self.n_heads, self.width),
                        *norm_weights("rms", "k_norm", *self._kv)]  # fmt: skip


class GroupedQuery(MultiHead, frozen=True, kw_only=True, tag="gqa"):
    """Grouped-query attention, arXiv:2305.13245; multi-query (arXiv:1911.02150) is one KV head."""

    n_kv_heads: Annotated[Letter, dim("key and value heads, each shared by a group of query heads")]

    @property
    def kv_heads(self) -> Letter:
        """The letter that counts key and value heads."""
        return self.n_kv_heads

    def bound(self, d_model: Letter) -> Self:
        """Also checks that the query heads fall into equal groups."""
        if self.n_heads.value % self.n_kv_heads.value:
            raise ValueError(
                f"n_heads {self.n_heads.value} is no multiple of n_kv_heads "
                f"{self.n_kv_heads.value}: each KV head serves an equal group of query heads"
            )
        return super().bound(d_model)


Attention = MultiHead | GroupedQuery
