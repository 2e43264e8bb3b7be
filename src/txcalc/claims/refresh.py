"""``check --write``: stale numbers replaced in place, each in its own style."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence
from fractions import Fraction

from txcalc.claims.claim import Verdict, holds
from txcalc.claims.files import read_text
from txcalc.claims.written import read, write
from txcalc.errors import TxcalcError


class RefreshError(TxcalcError):
    """A file that cannot be written."""


def refresh(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Writes what failed anew, and returns the verdicts that are still wrong.

    Misprints and figures from rounded inputs are never touched.

    Raises:
        RefreshError: a file that may not be written; it is left as it was.
    """
    stale: dict[str, list[tuple[Verdict, str]]] = {}
    left = []
    for verdict in verdicts:
        if verdict.holds:
            continue
        fresh = _fresh(verdict)
        if fresh:
            stale.setdefault(verdict.place.file, []).append((verdict, fresh))
        else:
            left.append(verdict)
    for file, edits in stale.items():
        _write(file, edits)
    return left


def _fresh(verdict: Verdict) -> str:
    """The number in its document's style, or nothing where that would not hold either."""
    claim, computed, written = verdict.claim, verdict.computed, verdict.written
    if computed is None or written is None or claim.expect != "holds" or not verdict.place.end:
        return ""
    if claim.relation not in ("rounds", "within"):
        return ""
    text = write(written, Fraction(computed.value))
    return text if holds(claim, read(text, computed.unit), Fraction(computed.value)) else ""


def _write(file: str, edits: Sequence[tuple[Verdict, str]]) -> None:
    """Replaces a file at once, or not at all."""
    mode = os.stat(file).st_mode
    if not mode & stat.S_IWUSR or not os.access(file, os.W_OK):
        raise RefreshError(f"{file}: read-only, so nothing of it was refreshed")
    text = read_text(file)
    for verdict, fresh in sorted(edits, key=lambda e: e[0].place.start, reverse=True):
        text = text[: verdict.place.start] + fresh + text[verdict.place.end :]
    folder = os.path.dirname(os.path.abspath(file))
    try:
        handle, temporary = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(text)
        os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, file)
    except OSError as error:
        raise RefreshError(f"{file}: cannot be written: {error.strerror}") from None
