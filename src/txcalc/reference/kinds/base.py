"""What every kind of part runs by: single dispatch on the part."""

from __future__ import annotations

from functools import singledispatch
from typing import NoReturn

import numpy as np

from txcalc.errors import RefusedError
from txcalc.model.parts.base import Part
from txcalc.reference.counter import Array
from txcalc.reference.site import Site


@singledispatch
def run(part: Part, x: Array, site: Site) -> Array:
    """What a sub-layer makes of ``x`` (batch, tokens, d_model), of the same shape.

    Raises:
        RefusedError: a kind that does not run.
        UnprovedError: a row that the architecture contradicts.
    """
    refuse(str(part.__struct_config__.tag))


def refuse(kind: str, what: str = "") -> NoReturn:
    """Refuses a kind, or ``what`` one has, that has no run.

    Raises:
        RefusedError: always.
    """
    has = f" with {what}" if what else ""
    raise RefusedError(f"kind {kind!r}{has} has no run yet: its account cannot be proved")


def relu(x: Array) -> Array:
    """What is positive, and 0 elsewhere."""
    y: Array = np.maximum(x, 0.0)
    return y


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    y: Array = 1.0 / (1.0 + np.exp(-x))
    return y


def silu(x: Array) -> Array:
    """Swish: x sigmoid(x), arXiv:1702.03118."""
    return x * sigmoid(x)


def softplus(x: Array) -> Array:
    """log(1 + exp(x))."""
    y: Array = np.logaddexp(0.0, x)
    return y
