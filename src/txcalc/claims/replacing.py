"""A file replaced at once: all of it or nothing, and only if it still is what was read."""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from txcalc.errors import TxcalcError

if sys.platform != "win32":
    import fcntl

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class ReplaceError(TxcalcError):
    """A file that is left as it was."""


def replace(file: str, old: bytes, new: bytes) -> None:
    """Puts new bytes in the place of a file that holds the old ones, with its owner and mode.

    Raises:
        ReplaceError: the file is read-only or has changed, or another process replaces it.
        OSError: the file cannot be written.
    """
    status = os.stat(file)
    if not status.st_mode & stat.S_IWUSR or not os.access(file, os.W_OK):
        raise ReplaceError("the file is read-only")
    with _temporary(file) as out:
        out.write(new)
        out.flush()
        if hasattr(os, "chown"):
            os.chown(out.name, status.st_uid, status.st_gid)
        os.chmod(out.name, stat.S_IMODE(status.st_mode))
        os.fsync(out.fileno())
        with open(file, "rb") as now:
            if now.read(len(old) + 1) != old:
                raise ReplaceError("the file has changed since it was read")
        if sys.platform == "win32":
            out.close()
        os.replace(out.name, file)


def clear(file: str) -> None:
    """Removes what is left beside a file if a process was killed while it replaced the file."""
    temporary = _temporary_name(file)
    if os.path.lexists(temporary):
        with suppress(OSError, ReplaceError):
            _remove_abandoned(temporary)


@contextmanager
def _temporary(file: str) -> Iterator[BinaryIO]:
    """A new locked file beside another; nothing is left of it unless it took the other's place."""
    name = _temporary_name(file)
    if os.path.lexists(name):
        _remove_abandoned(name)
    with open(name, "xb", opener=_private) as out:
        try:
            _lock(out)
            yield out
        finally:
            if out.closed or _is_at(out, name):
                with suppress(FileNotFoundError):
                    os.unlink(name)


def _temporary_name(file: str) -> str:
    """One name for each file, so that the next process finds what was left."""
    folder, name = os.path.split(file)
    return os.path.join(folder, f".txcalc-{zlib.crc32(os.fsencode(name)):08x}")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_LINK, 0o600)


def _remove_abandoned(temporary: str) -> None:
    """Removes a temporary file that no living process has locked."""
    with open(temporary, "rb+", opener=_private) as left:
        _lock(left)
        if _is_at(left, temporary):
            os.unlink(temporary)


def _is_at(file: BinaryIO, path: str) -> bool:
    """Whether a path is that of an open file."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    return False


def _lock(file: BinaryIO) -> None:
    """Locks a file for its process, until that closes it or ends; where there are locks."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ReplaceError("another process is replacing the file") from None
        except OSError:  # a network file system without locks
            return
