"""``check --write``: stale numbers replaced in place, each in its own style."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence
from fractions import Fraction

import msgspec

from txcalc.claims.checking import holds
from txcalc.claims.claim import Verdict
from txcalc.claims.files import read_text
from txcalc.claims.written import Rounding, above, below, read, towards_zero, write
from txcalc.errors import DescriptionError, TxcalcError

_ROUNDING: dict[str, Rounding] = {
    "rounds": round, "within": round, "truncates": towards_zero, "over": below, "under": above,
}  # fmt: skip


class RefreshError(TxcalcError):
    """A file that cannot be written."""


def refresh(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Writes anew what is stale, and tells what became of each claim.

    Misprints and figures from rounded inputs are never touched.  A file that cannot be written is
    left as it was, and its claims say so.
    """
    fresh = [_fresh(verdict) for verdict in verdicts]
    edits: dict[str, list[tuple[Verdict, str]]] = {}
    for verdict, text in zip(verdicts, fresh, strict=True):
        if text:
            edits.setdefault(verdict.place.file, []).append((verdict, text))
    failed = {file: _written(file, of_file) for file, of_file in edits.items()}
    return [
        _after(verdict, text, failed.get(verdict.place.file, "")) if text else verdict
        for verdict, text in zip(verdicts, fresh, strict=True)
    ]


def _after(verdict: Verdict, fresh: str, failed: str) -> Verdict:
    if failed:
        return msgspec.structs.replace(verdict, problem=failed, unreadable=True)
    return msgspec.structs.replace(verdict, problem="", refreshed=fresh)


def _fresh(verdict: Verdict) -> str:
    """The number in its document's style, or nothing where that would not hold either."""
    claim, computed, written = verdict.claim, verdict.computed, verdict.written
    if verdict.holds or computed is None or written is None or claim.expect != "holds":
        return ""
    value = Fraction(computed.value)
    text = write(written, value, _ROUNDING[claim.relation])
    again = read(text, computed.unit)
    says_nothing = value and not again.value
    return text if holds(claim, again, value) and not says_nothing else ""


def _written(file: str, edits: Sequence[tuple[Verdict, str]]) -> str:
    """Replaces a file at once, or says why not and leaves it as it was."""
    try:
        _replace(os.path.realpath(file), _edited(read_text(file), edits))
    except RefreshError as error:
        return f"{error}, so nothing of it was refreshed"
    except DescriptionError as error:
        return str(error)
    except OSError as error:
        return f"it cannot be written ({error.strerror}), so nothing of it was refreshed"
    return ""


def _edited(text: str, edits: Sequence[tuple[Verdict, str]]) -> str:
    for verdict, fresh in sorted(edits, key=lambda edit: edit[0].place.start, reverse=True):
        place = verdict.place
        if text[place.start : place.end] != verdict.claim.value:
            raise RefreshError(f"line {place.line} does not read {verdict.claim.value!r} as such")
        text = text[: place.start] + fresh + text[place.end :]
    return text


def _replace(file: str, text: str) -> None:
    """Puts a new file in the place of an old one, with its permissions."""
    mode = os.stat(file).st_mode
    if not mode & stat.S_IWUSR or not os.access(file, os.W_OK):
        raise RefreshError("the file is read-only")
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(file), prefix=".txcalc-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise
