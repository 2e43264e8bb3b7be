"""Kinds of positions.  Only learned and relative ones have a table."""

from typing import Annotated

from txcalc.exact.quantity import Letter
from txcalc.model.parts.base import Part, Slot, dim
from txcalc.model.rows import Weight


class Learned(Part, frozen=True, kw_only=True, tag="learned"):
    """One learned vector for each position; beyond ``n_positions`` there is none."""

    n_positions: Annotated[Letter, dim("rows of the position table")]

    def weights(self, slot: Slot) -> list[Weight]:
        """The table of positions."""
        return [
            Weight(name="positions", use="lookup", inputs=(self.n_positions,),
                   outputs=(slot.d_model,))
        ]  # fmt: skip


class Relative(Part, frozen=True, kw_only=True, tag="relative"):
    """A learned score bias for each bucket of distances and each head, arXiv:1910.10683.

    The stack's layers share one table.
    """

    n_buckets: Annotated[Letter, dim("buckets that distances fall into")]
    n_heads: Annotated[Letter, dim("query heads")]

    def weights(self, slot: Slot) -> list[Weight]:
        """The table of score biases."""
        return [
            Weight(name="positions", use="lookup", inputs=(self.n_buckets,),
                   outputs=(self.n_heads,))
        ]  # fmt: skip


class Tableless(Part, frozen=True, kw_only=True):
    """Positions that are computed."""

    def weights(self, slot: Slot) -> list[Weight]:
        """None."""
        return []


class Sinusoidal(Tableless, frozen=True, kw_only=True, tag="sinusoidal"):
    """Sines and cosines added to the embedding, arXiv:1706.03762 section 3.5."""


class Rotary(Tableless, frozen=True, kw_only=True, tag="rotary"):
    """Queries and keys rotated by their position, arXiv:2104.09864: all channels of a head (of a
    latent's rotary key), or as many as the ``width``.
    """

    width: Annotated[Letter | None, dim("channels of a head that are rotated")] = None


class Unmarked(Tableless, frozen=True, kw_only=True, tag="none"):
    """None beside the order in which recurrences and convolutions read tokens."""


class Alibi(Tableless, frozen=True, kw_only=True, tag="alibi"):
    """Score biases linear in the distance, arXiv:2108.12409."""
