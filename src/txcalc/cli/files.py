"""Answers that are files: written at once or not at all, and never over something else."""

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress

from txcalc.errors import OptionError

READ = 1024
"""Bytes at the start of a file that show what it is."""


def write(path: str, content: bytes, beginnings: Sequence[bytes], kind: str) -> None:
    """Puts a file in its place, or in that of one that begins as such files do.

    Raises:
        OptionError: another file is there, or the folder cannot be written.
    """
    target = os.path.realpath(path)
    try:
        if os.path.lexists(target) and not _is_such(target, beginnings):
            raise OptionError(f"-o {path}: the file that is there is {kind}; it is left as it is")
        _replace(target, content)
    except OSError as error:
        raise OptionError(f"-o {path}: it cannot be written: {error.strerror}") from None


def _is_such(path: str, beginnings: Sequence[bytes]) -> bool:
    """Whether a file, of whatever begins with spaces, begins in one of some ways; or is empty."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        start = file.read(READ).lstrip().lower()
    return not start or any(start.startswith(beginning) for beginning in beginnings)


def _replace(path: str, content: bytes) -> None:
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666 & ~_umask()
    folder, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
