"""A file that is read piece by piece, wherever it lies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol

from txcalc.errors import DescriptionError


class Pieces(Protocol):
    """A file of ``size`` bytes, called ``name`` in errors."""

    name: str
    size: int

    def piece(self, start: int, length: int) -> bytes:
        """So many bytes from a place, which all lie in the file."""
        ...


class LocalFile:
    """A file on this machine."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self.name, self._file = name, file
        self.size = os.fstat(file.fileno()).st_size

    def piece(self, start: int, length: int) -> bytes:
        """So many bytes from a place."""
        self._file.seek(start)
        return self._file.read(length)


@contextmanager
def file_of(path: str) -> Iterator[LocalFile]:
    """A file opened for reading.

    Raises:
        DescriptionError: a file that is missing or cannot be read.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise DescriptionError("no regular file: a checkpoint is read in pieces", where=path)
        with open(path, "rb") as file:
            yield LocalFile(path, file)
    except OSError as error:
        raise DescriptionError(f"cannot be read: {error.strerror}", where=path) from None
    except ValueError:
        raise DescriptionError("no file can have this name", where=repr(path)) from None
