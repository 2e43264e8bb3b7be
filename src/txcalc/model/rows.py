"""What a part of a model declares: weights, products without a weight, and state."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import msgspec

from txcalc.exact.quantity import ONE, ZERO, Quantity, product
from txcalc.workload.passes import Stream
from txcalc.workload.reach import ALL, Attends, Reach, Source

Use = Literal["matmul", "bias", "norm", "lookup", "elementwise", "buffer"]
"""What a pass does with a tensor; only a matmul costs FLOPs, and a buffer is no parameter."""

Role = Literal[
    "embedding", "head", "norms", "attention", "ssm", "cross_attention", "ffn", "experts",
    "shared", "router", "residual", "tensors", "mtp", "buffers", "tower", "projector",
]  # fmt: skip
"""What a row serves: formats, layouts and reports choose rows by it."""


class Weight(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One tensor, or ``copies`` identical ones, ``used`` of them per token.

    A matmul maps ``inputs`` to ``outputs``, each a product of dimensions (``n_heads, head_dim``);
    a look-up maps its rows to its columns; other tensors have outputs alone.  A tensor that is
    ``tied`` to another is stored there and only used here.  A token multiplies a copy that it uses
    ``repeats`` times.  Of cached latents a cache keeps those in ``reach``.  A ``depthwise``
    convolution, by channel or by head, reads the channels that it writes; its inputs are taps.
    ``role`` is given where it is not that of the slot in which the part stands.
    """

    name: str
    use: Use
    outputs: tuple[Quantity, ...]
    inputs: tuple[Quantity, ...] = ()
    copies: Quantity = ONE
    used: Quantity = ONE
    repeats: Quantity = ONE
    stream: Stream = "own"
    reach: Attends = ALL
    tied: bool = False
    depthwise: bool = False
    role: Role | None = None

    @property
    def read(self) -> Quantity:
        """Elements that one multiplication reads beside the weight."""
        return self.written if self.depthwise else product(*self.inputs)

    @property
    def written(self) -> Quantity:
        """Elements that one multiplication writes."""
        return product(*self.outputs)

    @cached_property
    def macs(self) -> Quantity:
        """Multiply-adds of one token."""
        return product(self.used, self.repeats, self.each)

    @cached_property
    def moved(self) -> Quantity:
        """Elements that the products of one token read and write beside the weight."""
        return product(self.used, self.repeats, self.read + self.written)

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
        return self.elements if self.use == "buffer" else ZERO_PARAMETERS

    @cached_property
    def elements(self) -> Quantity:
        """Elements of all copies, whatever they are."""
        return self._counted(self.copies)

    def elements_of(self, copies: Quantity) -> Quantity:
        """Elements of so many copies."""
        return self.elements if copies is self.copies else self._counted(copies)

    def _counted(self, copies: Quantity) -> Quantity:
        return product(copies, self.each).counted_as("parameters")

    def _parameters(self, copies: Quantity) -> Quantity:
        if self.tied or self.use == "buffer":
            return ZERO_PARAMETERS
        return self.elements_of(copies)


ZERO_PARAMETERS = ZERO.counted_as("parameters")


class Op(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Attention products without a weight: per query-key pair, ``heads`` * (``d_qk`` + ``d_v``).

    ``reach`` says which keys a query attends to.  ``latent`` is the pair (d_qk, d_v) of scores
    against cached latents, where the part can do without expanding them.
    """

    name: str
    heads: Quantity
    d_qk: Quantity
    d_v: Quantity
    reach: Attends | Source = ALL
    latent: tuple[Quantity, Quantity] | None = None

    @cached_property
    def expanded(self) -> Quantity:
        """Multiply-adds of a query-key pair in all heads, on keys and values of full width."""
        return product(self.heads, self.d_qk + self.d_v)

    @cached_property
    def absorbed(self) -> Quantity:
        """The same on cached latents, where the part can work on them."""
        if self.latent is None:
            return self.expanded
        d_qk, d_v = self.latent
        return product(self.heads, d_qk + d_v)


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """A recurrence's products without a weight: ``width`` multiply-adds a token."""

    name: str
    width: Quantity


class State(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a sequence keeps between steps: ``dims`` elements for each token kept in ``reach``.

    ``fmt`` is the number format of a state that has its own, whatever the cache's.
    """

    name: str
    dims: tuple[Quantity, ...]
    reach: Reach = ALL
    fmt: str | None = None

    @cached_property
    def width(self) -> Quantity:
        """Elements for one token, or of the whole state where it keeps no tokens."""
        return product(*self.dims)


Declared = Weight | Op | Scan | State


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
    role: Role | None = None,
) -> list[Weight]:
    """A matmul's weight and, with ``bias``, the bias that goes with it (``NAME_bias``)."""
    rows = [
        Weight(name=name, use="matmul", inputs=inputs, outputs=outputs, copies=copies, used=used,
               stream=stream, tied=tied, role=role)
    ]  # fmt: skip
    if bias:
        rows.append(
            Weight(name=f"{name}_bias", use="bias", outputs=outputs, copies=copies, used=used,
                   role=role)
        )  # fmt: skip
    return rows
