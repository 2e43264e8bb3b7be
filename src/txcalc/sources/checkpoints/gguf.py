"""The head of a GGUF file: its keys, walked over without reading the vocabulary, and its tensors.

https://github.com/ggml-org/ggml, docs/gguf.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NoReturn

import msgspec

from txcalc.errors import DescriptionError
from txcalc.sources.checkpoints.pieces import Pieces, file_of
from txcalc.workload.checkpoint import Checkpoint, StoredTensor
from txcalc.workload.gguf import FILE_TYPES

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_FIRST_PIECE = 1 << 20
"""Bytes that are read at first; four times as many as long as the head is longer."""
_LONGEST_HEAD = 1 << 28
_KEPT = 1024
"""Numbers of an array that are kept; of longer ones, and of texts, the length alone."""
_STRING, _ARRAY, _BOOL = 8, 9, 7
_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", _BOOL: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
"""The types of values by their numbers, as struct has them."""
_ALIGNMENT = "general.alignment"


class Array(msgspec.Struct, frozen=True):
    """A list in the keys: its length, and its values where they are few numbers."""

    length: int
    values: tuple[Any, ...] = ()


class Head(msgspec.Struct, frozen=True):
    """The keys of a file, and its tensors."""

    keys: dict[str, Any]
    tensors: tuple[StoredTensor, ...]


class _ShortError(Exception):
    """The bytes end before the head does."""


def gguf_checkpoint(path: str) -> Checkpoint:
    """The checkpoint of one file."""
    with file_of(path) as file:
        return Checkpoint(source=path, kind="gguf", tensors=head_of(file).tensors)


def head_of(file: Pieces) -> Head:
    """The keys and tensors of a file; nothing is read beyond them.

    Raises:
        DescriptionError: a file that is damaged, of another version, or one of several parts.
    """
    length = min(_FIRST_PIECE, file.size)
    while True:
        try:
            return _Walk(file.piece(0, length), file).head()
        except _ShortError:
            if length >= min(file.size, _LONGEST_HEAD):
                raise DescriptionError(
                    f"truncated: its head does not end within {length:,} bytes", where=file.name
                ) from None
        length = min(4 * length, file.size)


class _Walk:
    """One walk over the bytes of a head, from the first on."""

    def __init__(self, data: bytes, file: Pieces) -> None:
        self._data, self._file, self._at = data, file, 0

    def head(self) -> Head:
        """Keys, then tensors."""
        if self._bytes(4) != _MAGIC:
            self._refuse("no GGUF file")
        [version] = self._numbers("I")
        if version not in _VERSIONS:
            self._refuse(f"version {version} of GGUF; 2 and 3 are known, little-endian")
        n_tensors, n_keys = self._numbers("QQ")
        if 24 * n_tensors + 12 * n_keys > self._file.size:
            self._refuse(f"truncated or damaged: {n_keys:,} keys and {n_tensors:,} tensors")
        keys: dict[str, Any] = {}
        for _ in range(n_keys):
            key = self._text()
            if key in keys:
                self._refuse(f"the key {key!r} stands twice")
            [kind] = self._numbers("I")
            keys[key] = self._value(kind)
        if keys.get("split.count", 0) > 1:
            self._refuse(
                f"one of {keys['split.count']} parts: join them with llama.cpp's "
                "gguf-split --merge and pass that file"
            )
        infos = [self._info() for _ in range(n_tensors)]
        return Head(keys, tuple(self._checked(infos, keys.get(_ALIGNMENT, 32))))

    def _info(self) -> tuple[StoredTensor, int]:
        """A tensor, and where its data begin behind the head."""
        name = self._text()
        [n_dims] = self._numbers("I")
        if n_dims > 4:
            self._refuse(f"tensor {name!r} has {n_dims} dimensions, but 4 is most")
        dims = self._numbers(f"{n_dims}Q")
        type_, offset = self._numbers("IQ")
        if type_ not in FILE_TYPES:
            self._refuse(f"tensor {name!r} is of a type that is not known: {type_}")
        fmt = FILE_TYPES[type_]
        [piece] = fmt.pieces
        elements = 1
        for size in dims:
            elements *= size
        block = piece.columns or 1
        if dims and dims[0] % block:
            self._refuse(f"tensor {name!r}: rows of {dims[0]} are no whole blocks of {fmt.name}")
        size = elements // block * int(piece.bytes)
        return StoredTensor(name, tuple(reversed(dims)), fmt.name.upper(), size), offset

    def _checked(
        self, infos: list[tuple[StoredTensor, int]], alignment: Any
    ) -> Iterator[StoredTensor]:
        """The tensors, whose data follow one another, each on a multiple of the alignment."""
        if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
            self._refuse(f"{_ALIGNMENT} {alignment} is no power of two")
        names = sorted(tensor.name for tensor, _ in infos)
        for one, other in pairwise(names):
            if one == other:
                self._refuse(f"the tensor {one!r} stands twice")
        start, expected = _aligned(self._at, alignment), 0
        for tensor, offset in infos:
            if offset != expected:
                self._refuse(
                    f"damaged: tensor {tensor.name!r} begins at {offset:,}, not at {expected:,}"
                )
            end = offset + tensor.bytes
            if start + end > self._file.size:
                self._refuse(
                    f"truncated: tensor {tensor.name!r} ends at {start + end:,}, beyond the "
                    f"{self._file.size:,} bytes of the file"
                )
            expected = _aligned(end, alignment)
            yield tensor

    def _value(self, kind: int) -> Any:
        if kind in _NUMBERS:
            return self._numbers(_NUMBERS[kind])[0]
        if kind == _STRING:
            return self._text()
        if kind != _ARRAY:
            self._refuse(f"a value of a type that is not known: {kind}")
        [inner] = self._numbers("I")
        [length] = self._numbers("Q")
        return self._array(inner, length)

    def _array(self, inner: int, length: int) -> Array:
        if inner in _NUMBERS:
            code = _NUMBERS[inner]
            if length <= _KEPT:
                return Array(length, self._numbers(f"{length}{code}"))
            self._skip(length * struct.calcsize(f"<{code}"))
        elif inner == _STRING:
            self._skip_texts(length)
        else:
            self._refuse(f"a list of a type that is not known: {inner}")
        return Array(length)

    def _skip_texts(self, length: int) -> None:
        if 8 * length > self._file.size - self._at:
            self._refuse(f"truncated or damaged: a list of {length:,} texts")
        data, at, size = self._data, self._at, struct.Struct("<Q").unpack_from
        try:
            for _ in range(length):
                at += 8 + size(data, at)[0]
        except struct.error:
            raise _ShortError from None
        self._at = at
        self._skip(0)

    def _text(self) -> str:
        [length] = self._numbers("Q")
        try:
            return self._bytes(length).decode()
        except UnicodeDecodeError:
            self._refuse(f"damaged: a text that is no UTF-8 before byte {self._at:,}")

    def _numbers(self, codes: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{codes}", self._bytes(struct.calcsize(f"<{codes}")))

    def _bytes(self, length: int) -> bytes:
        start = self._at
        self._skip(length)
        return self._data[start : self._at]

    def _skip(self, length: int) -> None:
        """Goes on; a length beyond the file is a fault, and not that the piece is short."""
        self._at += length
        if self._at > self._file.size:
            self._refuse(
                f"a truncated or damaged GGUF file: its head ends beyond {self._file.size:,} bytes"
            )
        if self._at > len(self._data):
            raise _ShortError

    def _refuse(self, problem: str) -> NoReturn:
        raise DescriptionError(problem, where=self._file.name)


def _aligned(at: int, alignment: int) -> int:
    return -(-at // alignment) * alignment
