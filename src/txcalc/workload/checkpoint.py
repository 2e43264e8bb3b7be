"""A checkpoint by its headers: which tensors it holds, of which shapes and types."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import msgspec

from txcalc.workload.formats import NUMBERS, Format, Piece
from txcalc.workload.gguf import FILE_TYPES

BITS: dict[str, int] = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8,
    "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip
"""Bits of one element by the types of safetensors: https://github.com/huggingface/safetensors."""
COUNTING = frozenset(("BOOL", "I16", "U16", "I32", "U32", "I64", "U64"))
"""Types of positions, masks, counts and packed codes, in which no weight is stored as it is."""
CODES = {"I32": 8, "U32": 8, "U8": 2, "I8": 2}
"""Codes of 4 bits in one number of the types that schemes pack them into."""


class StoredTensor(msgspec.Struct, frozen=True):
    """One tensor: its shape outermost first, its type, and its bytes.

    Of an index without its shards the name alone is known: there is no shape.
    """

    name: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    bytes: int = 0

    @property
    def elements(self) -> int:
        """Elements; 0 where the shape is not known."""
        return 0 if self.shape is None else math.prod(self.shape)


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The tensors of all files of a checkpoint.

    An index without its shards is ``names_only``; it may state the bytes of all tensors,
    ``total_size``.  ``notes`` are what its headers say beside.
    """

    source: str
    kind: Literal["safetensors", "gguf"]
    tensors: tuple[StoredTensor, ...]
    names_only: bool = False
    total_size: int | None = None
    notes: tuple[str, ...] = ()


_NAMED = {"F32": "fp32", "F16": "fp16", "BF16": "bf16", "I8": "int8", "F8_E4M3": "fp8"}
"""Types of safetensors that are known by other names as well."""


def format_of(dtype: str) -> Format:
    """The format in which a type of safetensors, or of GGUF, holds a tensor."""
    if dtype not in BITS:
        return next(fmt for fmt in FILE_TYPES.values() if fmt.name == dtype.lower())
    if dtype in _NAMED:
        return NUMBERS[_NAMED[dtype]]
    size = Fraction(BITS[dtype], 8)
    bytes_ = size.numerator if size.denominator == 1 else size
    return Format(dtype.lower(), (Piece(bytes_),), "https://github.com/huggingface/safetensors")


def bytes_of(dtype: str, shape: tuple[int, ...]) -> Fraction:
    """Bytes of a tensor of one of safetensors' types; no whole number where it ends in a byte."""
    return Fraction(math.prod(shape) * BITS[dtype], 8)
