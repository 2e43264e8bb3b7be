"""What a part of a model declares: weights, products without a weight, and state."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import msgspec

from txcalc.exact.quantity import ONE, ZERO, Quantity, product

Stream = Literal["own", "source", "latent", "both", "sequence", "none"]
"""Whose tokens a row works on: the stack's own; the encoder's, in cross-attention; both; the cached
latents', which an implementation may expand again at each step; one token of each sequence; or
nobody's, where a path is never run."""

Use = Literal["matmul", "bias", "norm", "lookup", "elementwise", "buffer"]
"""What a pass does with a tensor; only a matmul costs FLOPs, and a buffer is no parameter."""


class Weight(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One tensor, or ``copies`` alike of which a token uses ``used``.

    A matmul maps ``inputs`` to ``outputs``, each a product of dimensions (``n_heads, head_dim``);
    a look-up maps its rows to its columns; other tensors have outputs alone.  A tensor that is
    ``tied`` to another is stored there and only used here.  A token multiplies a copy that it uses
    ``repeats`` times.  Of cached latents a ``window`` may be all that is kept.  A ``depthwise``
    convolution reads the channels that it writes; its inputs are their taps.
    """

    name: str
    use: Use
    outputs: tuple[Quantity, ...]
    inputs: tuple[Quantity, ...] = ()
    copies: Quantity = ONE
    used: Quantity = ONE
    repeats: Quantity = ONE
    stream: Stream = "own"
    window: Quantity | None = None
    tied: bool = False
    depthwise: bool = False

    @property
    def moved(self) -> Quantity:
        """Elements that one multiplication reads and writes beside the weight."""
        written = product(*self.outputs)
        return written + (written if self.depthwise else product(*self.inputs))

    @cached_property
    def each(self) -> Quantity:
        """Elements of one copy."""
        return product(*self.inputs, *self.outputs)

    @cached_property
    def stored(self) -> Quantity:
        """Parameters that the model holds for this row."""
        return self._parameters(self.copies)

    @cached_property
    def active(self) -> Quantity:
        """Parameters that one token uses of those stored."""
        return self._parameters(self.used)

    @cached_property
    def buffered(self) -> Quantity:
        """Elements of a persistent tensor that is no parameter."""
        kept = self.each if self.use == "buffer" else ZERO
        return product(self.copies, kept).counted_as("parameters")

    def _parameters(self, copies: Quantity) -> Quantity:
        if self.tied or self.use == "buffer":
            return ZERO_PARAMETERS
        return product(copies, self.each).counted_as("parameters")


ZERO_PARAMETERS = ZERO.counted_as("parameters")


class Op(msgspec.Struct, frozen=True, kw_only=True):
    """Attention products without a weight: per query-key pair, ``heads`` * (``d_qk`` + ``d_v``).

    ``window`` is how many keys a query may meet, itself included (None: all); of a ``chunk`` it
    meets those that stand before it.  With a ``block`` one key stands for so many tokens, and those
    of complete blocks are met.  ``latent`` is the pair (d_qk, d_v) of scores against cached
    latents, where the part can do without expanding them.
    """

    name: str
    heads: Quantity
    d_qk: Quantity
    d_v: Quantity
    window: Quantity | None = None
    chunk: Quantity | None = None
    block: Quantity | None = None
    stream: Stream = "own"
    latent: tuple[Quantity, Quantity] | None = None


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """A recurrence's products without a weight: ``width`` multiply-adds a token."""

    name: str
    width: Quantity


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What a sequence keeps between steps: ``width`` elements for each token of its span.

    A ``window`` bounds how many tokens are kept; span ``source`` counts the encoder's tokens and
    ``fixed`` none: the width is all there is.  With a ``block`` it is the width of one entry for so
    many tokens; an ``open`` state keeps the tokens of a block that is not complete.  ``fmt`` is the
    number format of a state that has its own, whatever the cache's.
    """

    name: str
    width: Quantity
    span: Literal["own", "source", "fixed"] = "own"
    window: Quantity | None = None
    block: Quantity | None = None
    open: bool = False
    fmt: str | None = None


def linear(
    name: str,
    inputs: tuple[Quantity, ...],
    outputs: tuple[Quantity, ...],
    *,
    bias: bool = False,
    copies: Quantity = ONE,
    used: Quantity = ONE,
    stream: Stream = "own",
    tied: bool = False,
) -> list[Weight]:
    """A matmul's weight and, with ``bias``, the bias that goes with it (``NAME_bias``)."""
    rows = [
        Weight(name=name, use="matmul", inputs=inputs, outputs=outputs, copies=copies, used=used,
               stream=stream, tied=tied)
    ]  # fmt: skip
    if bias:
        rows.append(
            Weight(name=f"{name}_bias", use="bias", outputs=outputs, copies=copies, used=used)
        )
    return rows
