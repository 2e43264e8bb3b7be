"""The one counter: every multiply-add as it is done, by the row that it belongs to."""

from __future__ import annotations

from collections import defaultdict
from math import prod

import numpy as np
from numpy.typing import NDArray

from txcalc.errors import UnprovedError

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


class Counter:
    """Multiply-adds and uses of rows by address, read from the arrays that are multiplied.

    ``buffers`` are those used that are no parameters.
    ``shapes`` are those of all products, ``written`` elements that tokens add to a cache.
    """

    def __init__(self) -> None:
        self.products: dict[str, int] = defaultdict(int)
        self.shapes: dict[str, list[tuple[int, ...]]] = {}
        self.used: set[str] = set()
        self.buffers: set[str] = set()
        self.written = 0

    def einsum(self, address: str, equation: str, a: Array, b: Array) -> Array:
        """A product of two arrays: one multiply-add for each combination of its indices.

        Raises:
            UnprovedError: arrays whose shapes do not fit each other.
        """
        extents: dict[str, int] = {}
        inputs = equation.partition("->")[0].split(",")
        for letters, array in zip(inputs, (a, b), strict=True):
            if len(letters) != array.ndim or any(
                extents.setdefault(letter, size) != size
                for letter, size in zip(letters, array.shape, strict=True)
            ):
                raise UnprovedError(
                    f"{address} does not run: {a.shape} and {b.shape} do not fit {equation}"
                )
        product: Array = np.einsum(equation, a, b)
        return self._counted(address, prod(extents.values()), product)

    def linear(self, address: str, x: Array, weight: Array, n_inputs: int = 1) -> Array:
        """``x`` times a weight of ``n_inputs`` input axes before its output axes.

        Raises:
            UnprovedError: an input that the weight does not read.
        """
        inputs, outputs = weight.shape[:n_inputs], weight.shape[n_inputs:]
        lead, read = x.shape[: x.ndim - n_inputs], x.shape[x.ndim - n_inputs :]
        if read != inputs:
            raise UnprovedError(f"{address} does not run: it reads {inputs}, but is given {read}")
        rows, matrix = x.reshape(-1, prod(inputs)), weight.reshape(prod(inputs), -1)
        product = (rows @ matrix).reshape(*lead, *outputs)
        return self._counted(address, len(rows) * matrix.size, product)

    def _counted(self, address: str, products: int, made: Array) -> Array:
        self.products[address] += products
        self.shapes.setdefault(address, []).append(made.shape)
        return made
