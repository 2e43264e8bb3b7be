"""What every part of a model has in common."""

from collections.abc import Sequence
from typing import Annotated, Self

import msgspec

from txcalc.exact.quantity import Letter, Quantity
from txcalc.model.rows import Op, Scan, State, Weight
from txcalc.workload.passes import Stream
from txcalc.workload.reach import FIXED


def dim(meaning: str) -> msgspec.Meta:
    """The metadata of a dimension's field: what its letter means."""
    return msgspec.Meta(description=meaning)


HeadDim = Annotated[Letter | None, dim("width of one head; d_model / n_heads where left out")]


def recurrent_state(*dims: Quantity) -> State:
    """What a recurrence carries from token to token, in fp32 whatever the cache's format."""
    return State(name="recurrent", dims=dims, reach=FIXED, fmt="fp32")


class Slot(msgspec.Struct, frozen=True):
    """Where in a block a part stands: the width of its stream, and whose tokens its keys are of.

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

    def weights(self, slot: Slot) -> list[Weight]:
        """Every tensor of one layer's part."""
        raise NotImplementedError

    def operations(self, slot: Slot) -> list[Op | Scan]:
        """Products that read no weight."""
        return []

    def state(self, slot: Slot) -> list[State]:
        """What one layer's part keeps of a sequence."""
        return []


class Residual(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True
):
    """What takes the place of the one residual stream, around the ``branches`` of a block."""

    def weights(self, branches: Sequence[str], d_model: Quantity) -> list[Weight]:
        """Every tensor of one layer."""
        raise NotImplementedError

    def operations(self, branches: Sequence[str], d_model: Quantity) -> list[Op | Scan]:
        """Products that read no weight."""
        raise NotImplementedError
