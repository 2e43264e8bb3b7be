"""The pages and the claims files among some paths, each read once and whole."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator

import msgspec

from txcalc.claims.claim import Place, Verdict, unreadable
from txcalc.claims.readers import READERS
from txcalc.claims.readers.comment import PageError

MAX_BYTES = 4_000_000
STANDARD_INPUT = "-"
CLAIMS_FILES = (".yaml", ".yml")
ENDINGS = (*READERS, *CLAIMS_FILES)

_LISTS_CLAIMS = re.compile(rb"^claims:", re.MULTILINE)
_BEGINS_WITH_CLAIMS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:#[^\n]*)?\n)*+(?:source|claims):"
)


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was read.

    ``path`` names it as the user does, ``target`` is the file behind all links, and
    ``leads_out`` says that a link leads out of the folder that is checked.
    """

    path: str
    ending: str
    raw: bytes
    text: str
    target: str = ""
    leads_out: bool = False


def pages(paths: Iterable[str]) -> Iterator[Page | Verdict]:
    """Each file of some paths, and each below those that are folders, once.

    What cannot be read is a verdict, so that all others are checked.
    """
    seen: set[str] = set()
    for path in paths:
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        below = _below(path) if os.path.isdir(path) else [path]
        has_any = False
        for file in below:
            has_any = True
            if isinstance(file, Verdict):
                yield file
            elif (target := _behind_links(file)) not in seen:
                seen.add(target)
                yield from _page(file, target, folder, is_named=file == path)
        if not has_any:
            yield unreadable(Place(path, 1), "no page and no claims file in this folder")


def _below(folder: str) -> Iterator[str | Verdict]:
    """The files of a folder that may hold claims, without what is hidden or installed in it."""
    faults: list[OSError] = []
    for base, folders, names in os.walk(folder, onerror=faults.append):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n != "node_modules")
        for name in sorted(names):
            file = os.path.join(base, name)
            if _ending(name) in ENDINGS and (os.path.isfile(file) or not os.path.exists(file)):
                yield file
    for fault in faults:
        yield unreadable(Place(str(fault.filename), 1), f"cannot be read: {fault.strerror}")


def _page(file: str, target: str, folder: str, *, is_named: bool) -> Iterator[Page | Verdict]:
    """One file, unless it comes from a folder and says nothing of claims."""
    try:
        if file == STANDARD_INPUT:
            raw = _standard_input()
            ending = ".yaml" if _BEGINS_WITH_CLAIMS.match(raw) else ".md"
            yield Page(path=file, ending=ending, raw=raw, text=_decoded(raw))
            return
        raw = _regular_file(file)
        ending = _ending(file)
        if is_named or _may_hold_claims(raw, ending):
            inside = os.path.join(_behind_links(folder or "."), "")
            yield Page(
                path=file, ending=ending, raw=raw, text=_decoded(raw), target=target,
                leads_out=not target.startswith(inside),
            )  # fmt: skip
    except PageError as error:
        yield unreadable(Place(file, error.line), str(error))


def _behind_links(path: str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def _ending(file: str) -> str:
    return os.path.splitext(file)[1].lower()


def _may_hold_claims(raw: bytes, ending: str) -> bool:
    """Whether a file, sound or not, speaks of claims, in UTF-16 too."""
    if ending in CLAIMS_FILES:
        return bool(_LISTS_CLAIMS.search(raw))
    return b"txcalc" in raw.replace(b"\0", b"").lower()


def _regular_file(file: str) -> bytes:
    """The bytes of a file; of nothing that would wait for somebody who writes."""
    try:
        status = os.stat(file)
        if not stat.S_ISREG(status.st_mode):
            raise PageError("no regular file; what another program writes is checked as -")
        if _ending(file) not in ENDINGS:
            raise PageError(f"no page and no claims file: {', '.join(ENDINGS)} are read")
        if not status.st_size:
            return b""
        with open(file, "rb") as stream:
            return _limited(stream.read(MAX_BYTES + 1))
    except OSError as error:
        raise PageError(f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise PageError("no file can have this name") from None


def _standard_input() -> bytes:
    try:
        return _limited(sys.stdin.buffer.read(MAX_BYTES + 1))
    except OSError as error:
        raise PageError(f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise PageError("standard input is closed") from None


def _limited(raw: bytes) -> bytes:
    if len(raw) > MAX_BYTES:
        raise PageError(f"longer than {MAX_BYTES:,} bytes")
    return raw


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PageError("not UTF-8: save the file as UTF-8", line) from None
