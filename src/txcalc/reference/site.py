"""Where a part runs: its tensors, what it keeps and the count, by the names of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
import numpy as np

from txcalc.errors import UnprovedError
from txcalc.exact.quantity import Quantity
from txcalc.model.parts.norm import Norm
from txcalc.reference.cache import Fmt, Kept, State
from txcalc.reference.counter import Array, Counter
from txcalc.reference.positions import Places
from txcalc.workload.passes import Mla

Scores = Literal["causal", "full", "square"]
Size = int | Quantity


class How(msgspec.Struct, frozen=True, kw_only=True):
    """How a pass runs: which query-key pairs it multiplies, and its form of latent attention."""

    scores: Scores = "causal"
    mla: Mla = "expanded"


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """One sub-layer of one layer in one pass, or what stands outside of blocks.

    ``tensors`` are those of the component by name (``attention.q``) and ``state`` what its layer
    keeps; ``role`` is the sub-layer's.  ``source`` is the encoder's stream, where a pass has it,
    and ``shared`` are keys and values that later layers may take.  Tensors of a token are (batch,
    tokens, ...).  Outside of blocks there is no role, and where two stacks have a row of one name
    the ``suffix`` says whose it is.
    """

    component: str
    tensors: Mapping[str, Array]
    counter: Counter
    how: How
    places: Places
    state: State
    source: Array | None = None
    shared: dict[object, tuple[Array, Array]] = {}
    role: str = ""
    suffix: str = ""

    def at(self, role: str) -> Site:
        """The same layer and pass for another sub-layer."""
        return msgspec.structs.replace(self, role=role)

    def address(self, name: str) -> str:
        """The address of one of the part's rows."""
        return f"{self.component}.{self._name(name)}"

    def has(self, name: str) -> bool:
        """Whether the part stores a tensor of this name."""
        return self._name(name) in self.tensors

    def weight(self, name: str, *shape: Size) -> Array:
        """A stored tensor, which the architecture says is of this shape.

        Raises:
            UnprovedError: no such tensor, or one of another shape.
        """
        tensor = self.tensors.get(self._name(name))
        if tensor is None:
            raise UnprovedError(f"{self.address(name)} does not run: no such tensor is stored")
        wanted = sizes(*shape)
        if tensor.shape != wanted:
            raise UnprovedError(
                f"{self.address(name)} does not run: {wanted} is needed, {tensor.shape} is stored"
            )
        self.counter.used.add(self.address(name))
        return tensor

    def buffer(self, name: str, *shape: Size) -> Array:
        """A stored tensor that is no parameter."""
        self.counter.buffers.add(self.address(name))
        return self.weight(name, *shape)

    def linear(
        self, name: str, x: Array, *outputs: Size, bias: bool = False, inputs: int = 1
    ) -> Array:
        """``x`` projected from its last ``inputs`` axes to ``outputs``, and its bias added."""
        weight = self.weight(name, *x.shape[x.ndim - inputs :], *outputs)
        y = self.counter.linear(self.address(name), x, weight, inputs)
        return y + self.weight(f"{name}_bias", *outputs) if bias else y

    def norm(self, name: str, x: Array, kind: Norm, axes: int = 1) -> Array:
        """``x`` normalised over its last ``axes``."""
        if kind == "none":
            return x
        over, width = tuple(range(-axes, 0)), x.shape[x.ndim - axes :]
        if kind != "rms":
            x = x - x.mean(over, keepdims=True)
        x = x / np.sqrt((x * x).mean(over, keepdims=True) + 1e-5)
        x = x * self.weight(name, *width)
        return x + self.weight(f"{name}_bias", *width) if kind == "layer" else x

    def product(self, name: str, equation: str, a: Array, b: Array) -> Array:
        """A product without a weight, or one that reads a weight in an order of its own."""
        return self.counter.einsum(self.address(name), equation, a, b)

    def kept(self, name: str) -> Array | None:
        """What the layer keeps under a name, if it does already."""
        kept = self.state.kept.get(self._name(name))
        return None if kept is None else kept.array

    def keep(self, name: str, array: Array, fmt: Fmt = "cache") -> None:
        """Keeps a state, in the place of the one before."""
        self.state.kept[self._name(name)] = Kept(array, fmt)

    def extended(
        self, name: str, new: Array, most: Size | None = None, fmt: Fmt = "cache"
    ) -> Array:
        """The tokens kept and the new ones; the last of them are kept, ``most`` at most."""
        limit = None if most is None else number(most)
        every = self.state.joined(self._name(name), new, limit)
        if fmt == "cache":
            self.counter.written += new.size
        self.keep(name, every if limit is None else every[:, -limit:], fmt)
        return every

    def _name(self, name: str) -> str:
        return f"{self.role}.{name}" if self.role else f"{name}{self.suffix}"


def number(size: Size) -> int:
    """A size as an integer."""
    return size if isinstance(size, int) else int(size.value)


def sizes(*shape: Size) -> tuple[int, ...]:
    """A shape in integers."""
    return tuple(map(number, shape))
