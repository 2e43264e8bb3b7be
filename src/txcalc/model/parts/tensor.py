"""Tensors that no part knows, declared one by one in a description."""

from typing import Literal

import msgspec

from txcalc.exact.quantity import ONE, Quantity
from txcalc.model.rows import State, Use, Weight
from txcalc.workload.reach import FIXED


class Tensor(msgspec.Struct, frozen=True, kw_only=True):
    """``dims`` are out and in for a matmul, rows and columns for a look-up, else any.

    Those of a ``conv`` are channels and taps: a filter for each channel, which keeps as many inputs
    as it has taps, in a format ``fmt`` of its own where it has one.

    There may be several ``copies``, of which a token uses all, or as many as ``used``; it
    multiplies a matmul ``repeats`` times.  Its ``stream`` is the encoder's tokens where it is the
    source, and one token of each sequence where it is the sequence (a pooler); in a tower also the
    patches, or what the projector makes of them; none where nothing runs it (the cross-attention of
    a decoder without its encoder).
    """

    use: Use | Literal["conv"]
    dims: tuple[Quantity, ...]
    copies: Quantity = ONE
    used: Quantity | None = None
    repeats: Quantity = ONE
    stream: Literal["own", "source", "sequence", "patches", "projected", "none"] = "own"
    fmt: Literal["fp32"] | None = None

    def weight(self, name: str) -> Weight:
        """The tensor as a row of the inventory."""
        outputs, inputs = self._sides()
        use = "matmul" if self.use == "conv" else self.use
        return Weight(
            name=name,
            use=use,
            outputs=outputs,
            inputs=inputs,
            copies=self.copies,
            used=self.used or self.copies,
            repeats=self.repeats,
            stream=self.stream,
            depthwise=self.use == "conv",
        )

    def state(self, name: str) -> list[State]:
        """What a sequence keeps for it: a convolution's last inputs."""
        if self.use != "conv":
            return []
        return [State(name=name, dims=(self.copies, *self.dims), reach=FIXED, fmt=self.fmt)]

    def _sides(self) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
        match self.use:
            case "matmul" | "conv":
                return self.dims[:1], self.dims[1:]
            case "lookup":
                return self.dims[1:], self.dims[:1]
            case "bias" | "norm" | "elementwise" | "buffer":
                return self.dims, ()
