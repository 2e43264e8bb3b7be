"""What a sub-layer keeps from the forward pass for the backward pass."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.exact.quantity import ONE, Quantity
from txcalc.workload.training import Kernel

Span = Literal["tokens", "pairs", "once"]
"""For what a tensor has its dimensions: each token, each query-key pair, or once for all."""
Kept = Literal["compute", "stream", "fp32", "int64", "byte"]
"""The format of a saved tensor: that of products, that of the residual stream, or its own."""


class Keeping(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is run: what is saved depends on it.

    ``casts`` says that products run in another format than the weights and the stream have, by a
    copy for each product that reads; ``upcast`` that norms are written out, in fp32.  Models with
    ``rotary`` positions project queries, keys and values apart and take the softmax in fp32, as
    their implementations do; others project them in one product.
    """

    kernel: Kernel
    dropout: bool
    casts: bool
    upcast: bool
    rotary: bool
    is_fp32: bool


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """One saved tensor of a layer: ``dims`` elements for each token, each pair, or once.

    ``core`` is what selective recomputation drops: what stands between keys and output.
    """

    name: str
    dims: tuple[Quantity, ...] = ()
    fmt: Kept = "compute"
    span: Span = "tokens"
    copies: Quantity = ONE
    core: bool = False
