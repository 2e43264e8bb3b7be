"""What every part of a model has in common."""

from typing import Annotated, Self

import msgspec

from txcalc.exact.quantity import Letter, Quantity
from txcalc.model.rows import Op, Scan, State, Stream, Weight


def dim(meaning: str) -> msgspec.Meta:
    """The metadata of a dimension's field: what its letter means."""
    return msgspec.Meta(description=meaning)


HeadDim = Annotated[Letter | None, dim("width of one head; d_model / n_heads where left out")]


def recurrent_state(width: Quantity) -> State:
    """What a recurrence carries from token to token, in fp32 whatever the cache's format."""
    return State(name="recurrent", width=width, span="fixed", fmt="fp32")


class Place(msgspec.Struct, frozen=True):
    """Where a part stands: the width of its stream, and whose tokens its keys come from.

    The encoder's stream may be of another width, ``source``.
    """

    d_model: Quantity
    stream: Stream = "own"
    source: Quantity | None = None

    @property
    def keys_from(self) -> Quantity:
        """The width of the stream that keys and values are made of."""
        return self.d_model if self.source is None else self.source


class Part(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """A kind of sub-layer: it knows its weights, its products without a weight, and its state."""

    def bound(self, d_model: Letter) -> Self:
        """The same part with the letters defined that its description may leave out.

        Raises:
            ValueError: fields that contradict each other or ``d_model``.
        """
        return self

    def weights(self, place: Place) -> list[Weight]:
        """Every tensor of one layer's part."""
        raise NotImplementedError

    def operations(self, place: Place) -> list[Op | Scan]:
        """Products that read no weight."""
        return []

    def state(self, place: Place) -> list[State]:
        """What one layer's part keeps of a sequence."""
        return []
