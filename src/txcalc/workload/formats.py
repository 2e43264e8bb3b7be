"""Formats: how many bytes hold a tensor of so many outputs and inputs."""

from __future__ import annotations

from fractions import Fraction

import msgspec

from txcalc.errors import OptionError, nearest
from txcalc.exact.quantity import ONE, Letter, Number, Quantity, ceil_div, const, product, total


class Piece(msgspec.Struct, frozen=True):
    """So many ``bytes`` for each started tile of ``rows`` outputs and ``columns`` inputs.

    A side that is None is the whole axis.  The tiles of a ``flat`` piece run through the tensor
    row after row, as through one row of all its elements.
    """

    bytes: Number
    rows: int | None = 1
    columns: int | None = 1
    flat: bool = False

    def held(self, outputs: Quantity, inputs: Quantity) -> Quantity:
        """Bytes of this piece of a tensor."""
        if self.flat:
            outputs, inputs = ONE, product(outputs, inputs)
        tiles = product(_tiles(outputs, self.rows), _tiles(inputs, self.columns))
        return product(const(self.bytes), tiles).counted_as("bytes")


class Format(msgspec.Struct, frozen=True):
    """A format by name: its pieces, codes and scales alike, and the public ``source`` of them."""

    name: str
    pieces: tuple[Piece, ...]
    source: str

    def bytes(self, outputs: Quantity, inputs: Quantity) -> Quantity:
        """Bytes of a tensor of ``outputs`` rows, each of ``inputs`` elements."""
        return total((piece.held(outputs, inputs) for piece in self.pieces), "bytes")


def _number(name: str, bytes_: Number, source: str) -> tuple[str, Format]:
    return name, Format(name, (Piece(bytes_),), source)


NUMBERS: dict[str, Format] = dict(
    (
        _number("fp32", 4, "IEEE 754, binary32"),
        _number("tf32", 4, "NVIDIA A100 whitepaper: 19 bits, kept in 4 bytes"),
        _number("fp16", 2, "IEEE 754, binary16"),
        _number("bf16", 2, "arXiv:1905.12322"),
        _number("fp8", 1, "arXiv:2209.05433"),
        _number("int8", 1, "arXiv:2103.13630"),
        _number("int4", Fraction(1, 2), "arXiv:2103.13630"),
    )
)
"""Flat numbers: every element alike, with nothing beside it."""


def size(fmt: str, letter: str, counted: str, origin: str = "") -> Letter:
    """Bytes of one of what is ``counted`` (parameters, elements) in a flat format, as a letter.

    ``origin`` says who chose the format, where that was not the question.

    Raises:
        OptionError: a format that is not known.
    """
    if fmt not in NUMBERS:
        raise OptionError(f"unknown number format {fmt!r}{nearest(fmt, list(NUMBERS))}")
    [piece] = NUMBERS[fmt].pieces
    one = counted.removesuffix("s")
    made = Letter(piece.bytes, letter, unit=f"bytes/{one}", about=f"bytes of one {one} in {fmt}")
    made.origin = origin
    return made


def _tiles(axis: Quantity, side: int | None) -> Quantity:
    """Started tiles along an axis."""
    if side is None:
        return ONE
    return axis if side == 1 else ceil_div(axis, const(side))
