"""What a part is made of: tensors, looks of queries at keys, recurrences, and what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Tree = dict[str, Any]
BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1, "int4": Fraction(1, 2)}


class Tensor(NamedTuple):
    """``copies`` of a tensor, ``used`` by one token; a matmul maps ``inside`` to ``out``.

    The ``stream`` is whose tokens it multiplies, each ``repeats`` times; of cached latents a
    ``window`` is kept.  One multiplication reads ``reads`` elements, ``inside`` where left out.
    """

    use: str
    out: int
    inside: int = 1
    copies: int = 1
    used: int | Fraction = 1
    repeats: int = 1
    stream: str = "own"
    window: int | None = None
    reads: int | None = None
    where: str = ""

    @property
    def each(self) -> int:
        """Elements of one copy."""
        return self.out * self.inside

    @property
    def size(self) -> int:
        """Elements of all copies."""
        return self.each * self.copies

    @property
    def per_token(self) -> int | Fraction:
        """Multiply-adds of one token."""
        return self.each * self.used * self.repeats

    @property
    def passed(self) -> int | Fraction:
        """Elements that one token's products read and write beside the weights."""
        read = self.inside if self.reads is None else self.reads
        return (self.out + read) * self.used * self.repeats


class Reach(NamedTuple):
    """A query attends to the last ``window`` keys, to those of its ``chunk``, or, with a ``block``,
    to one entry for each complete block of tokens, to ``most`` of them at most."""

    window: int | None = None
    chunk: int | None = None
    block: int | None = None
    most: int | None = None


class Look(NamedTuple):
    """Products of a query with a key (``d_qk`` wide) and of its probability with a value.

    ``latent`` are the two widths of scores against cached latents; ``keys`` whose tokens they are.
    """

    heads: int
    d_qk: int
    d_v: int
    reach: Reach = Reach()
    keys: str = "own"
    latent: tuple[int, int] | None = None
    where: str = ""


class Scan(NamedTuple):
    """A recurrence's ``macs``, multiply-adds of one token without a weight."""

    macs: int
    where: str = ""


class Kept(NamedTuple):
    """``width`` elements that a cache keeps for each token of the last ``window``.

    With a ``block`` they are for each complete block, or with ``open`` for each token of the one
    that is not complete.  Of the encoder's tokens all are kept (span ``source``); a ``fixed`` state
    is there once.  ``fmt`` is its number format where it has one of its own.
    """

    width: int
    window: int | None = None
    block: int | None = None
    open: bool = False
    span: str = "own"
    fmt: str | None = None


class Part(NamedTuple):
    """All that one sub-layer, or one layer, has."""

    tensors: Sequence[Tensor]
    looks: Sequence[Look] = ()
    scans: Sequence[Scan] = ()
    kept: Sequence[Kept] = ()

    def at(self, where: str) -> Part:
        """The same, each of its rows knowing where it stands."""
        return Part(
            [row._replace(where=where) for row in self.tensors],
            [row._replace(where=where) for row in self.looks],
            [row._replace(where=where) for row in self.scans],
            self.kept,
        )

    def __add__(self, other: Part) -> Part:  # type: ignore[override]
        return Part(*([*ours, *theirs] for ours, theirs in zip(self, other, strict=True)))


class Place(NamedTuple):
    """Where a part stands: the widths of its stream and of the keys' (if ``cross``, another)."""

    d_model: int
    keys_width: int
    cross: bool = False


class Run(NamedTuple):
    """What is asked: a phase at some lengths.

    ``form`` is that of latent attention, by default the phase's own; with ``source_done`` the
    encoder, and what is made of its tokens, have run before.
    """

    phase: str = "prefill"
    ctx: int = 1
    source: int = 1
    batch: int = 1
    scores: str = "full"
    logits: str = "all"
    form: str | None = None
    source_done: bool = False

    @property
    def stepping(self) -> bool:
        """Whether one token of each sequence is computed."""
        return self.phase in ("token", "decode")

    @property
    def mla(self) -> str:
        """Decode leaves latents as they are, other phases expand them."""
        return self.form or ("absorbed" if self.phase == "decode" else "expanded")


def linear(out: int, inside: int, bias: bool = False, **fields: Any) -> list[Tensor]:
    """A matmul's tensor and its bias; they have the same copies."""
    tensor = Tensor("matmul", out, inside, **fields)
    biases = [Tensor("bias", out, 1, tensor.copies, tensor.used)] * bias
    return [tensor, *biases]


def convolution(channels: int, taps: int, bias: bool = False) -> list[Tensor]:
    """A filter for each channel, which reads the channel itself."""
    return linear(channels, taps, bias, reads=channels)


def norm(kind: str, width: int) -> list[Tensor]:
    """No tensor, one, or with LayerNorm two."""
    each = {"none": 0, "rms": 1, "layer_no_bias": 1, "layer": 2}[kind]
    return [Tensor("norm", width)] * each


def learned(*widths: int) -> list[Tensor]:
    """Tensors that a pass multiplies element by element."""
    return [Tensor("elementwise", width) for width in widths]
