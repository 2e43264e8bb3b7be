"""Bytes from files, with errors that name the file."""

from __future__ import annotations

from txcalc.errors import DescriptionError
from txcalc.sources.other_files import other_binary


def read_bytes(path: str, limit: int) -> bytes:
    """All of a file that is at most ``limit`` bytes long.

    Raises:
        DescriptionError: a file that is missing, unreadable, a checkpoint, or longer.
    """
    try:
        with open(path, "rb") as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise DescriptionError(f"cannot be read: {error.strerror}", where=path) from None
    except ValueError:
        raise DescriptionError("no file can have this name", where=repr(path)) from None
    if other := other_binary(raw):
        raise DescriptionError(f"this is {other}", where=path)
    if len(raw) > limit:
        raise DescriptionError(f"longer than {limit:,} bytes: no model file", where=path)
    return raw
