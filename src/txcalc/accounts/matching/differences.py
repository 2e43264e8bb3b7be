"""In what a checkpoint differs from a model."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from txcalc.accounts.matching.cover import Cover
from txcalc.accounts.matching.forms import Shape
from txcalc.accounts.matching.needs import Need, addresses
from txcalc.report.report import Difference
from txcalc.workload.checkpoint import StoredTensor


class Holding(msgspec.Struct, frozen=True):
    """A tensor and the rows that it holds, with the number of its layer in the stack."""

    tensor: StoredTensor
    cover: Cover
    layer: int | None = None


def missing(name: str, needs: Sequence[Need], layer: int | None, shape: Shape) -> Difference:
    """A tensor that is not there."""
    return Difference(
        what="missing", tensor=name, row=addresses(needs), layer=layer, expected=sized(shape)
    )


def extra(tensor: StoredTensor, layer: int | None = None) -> Difference:
    """A tensor that no row needs."""
    return Difference(what="extra", tensor=tensor.name, layer=layer, found=sized(tensor.shape))


def other_shape(
    tensor: StoredTensor, needs: Sequence[Need], layer: int | None, shape: Shape
) -> Difference:
    """A tensor of another shape than its row."""
    return Difference(
        what="other shape", tensor=tensor.name, row=addresses(needs), layer=layer,
        expected=sized(shape), found=sized(tensor.shape),
    )  # fmt: skip


def other_type(
    tensor: StoredTensor, needs: Sequence[Need], layer: int | None, dtype: str
) -> Difference:
    """A tensor of another type than the same one in most layers."""
    return Difference(
        what="other type", tensor=tensor.name, row=addresses(needs), layer=layer,
        expected=dtype, found=tensor.dtype,
    )  # fmt: skip


def sized(shape: Shape | None) -> str:
    """A shape as text: ``4096 x 1024``."""
    if shape is None:
        return ""
    return " x ".join(map(str, shape)) or "a single number"
