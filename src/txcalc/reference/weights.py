"""The tensors of a model, filled at random, each once however often it is used."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import prod

import numpy as np
from numpy.random import Generator

from txcalc.exact.quantity import ONE
from txcalc.model.model import Layers, Model, Row
from txcalc.model.rows import Weight
from txcalc.reference.counter import Array
from txcalc.reference.site import sizes

Tensors = dict[str, Array]

LayerOf = tuple[str, int]
"""A stack and a position in it."""


class Weights:
    """``beside`` are the tensors outside of blocks by address, ``layers`` those of each layer.

    Layers of a shared block have the same tensors.  A tied tensor is not stored.
    """

    def __init__(self, model: Model, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        beside = {row.address: row for row in model.text_rows if _is_beside(row)}
        self.beside = _filled(beside.items(), rng)
        self.layers: dict[LayerOf, Tensors] = {}
        kinds = {(kind.stack, kind.name): kind for kind in model.layers}
        shared: dict[tuple[str, str], Tensors] = {}
        for stack, layers in model.stacks.items():
            for position, name in enumerate(layers.layers()):
                kind = kinds["encoder" if stack == "encoder" else "decoder", name]
                tensors = shared.get((stack, name)) or _of_layer(kind, rng)
                if model.blocks[name].shared:
                    shared[stack, name] = tensors
                self.layers[stack, position] = tensors

    def stored(self, model: Model, buffers_by: Collection[str]) -> tuple[int, int]:
        """Elements of parameters, and of persistent buffers, those at some addresses."""
        parameters = buffers = 0
        for address, array in self.beside.items():
            if address in buffers_by:
                buffers += array.size
            else:
                parameters += array.size
        distinct = {
            id(tensors): (model.stacks[stack], position, tensors)
            for (stack, position), tensors in self.layers.items()
        }
        for stack, position, tensors in distinct.values():
            name = list(stack.layers())[position]
            for row, array in tensors.items():
                if f"block.{name}.{row}" in buffers_by:
                    buffers += array.size
                else:
                    parameters += array.size
        return parameters, buffers


def _of_layer(kind: Layers, rng: Generator) -> Tensors:
    return _filled(kind.weights.items(), rng)


def _filled(rows: Iterable[tuple[str, Row | Weight]], rng: Generator) -> Tensors:
    """An array in the shape of each row: its copies, where it has some, its inputs, its outputs."""
    tensors: Tensors = {}
    for name, row in rows:
        weight = row.declared if isinstance(row, Row) else row
        assert isinstance(weight, Weight)
        if not weight.tied:
            shape = (*(() if weight.copies is ONE else (weight.copies,)),
                     *weight.inputs, *weight.outputs)  # fmt: skip
            tensors[name] = _random(weight, sizes(*shape), rng)
    return tensors


def _random(weight: Weight, shape: tuple[int, ...], rng: Generator) -> Array:
    """Matrices that halve a vector's length, norms about 1, all else about 0."""
    drawn: Array = rng.standard_normal(shape)
    match weight.use:
        case "matmul":
            drawn *= 0.5 * max(prod(sizes(*weight.inputs)), 1) ** -0.5
        case "norm":
            drawn = 1.0 + 0.1 * drawn
        case "bias" | "elementwise" | "buffer":
            drawn *= 0.1
        case "lookup":
            pass
    return drawn


def _is_beside(row: Row) -> bool:
    return isinstance(row.declared, Weight) and row.layers is None and row.component != "mtp"
