"""``check --write``: stale numbers replaced in place, each in its own style."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
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
    after = list(verdicts)
    stale: dict[str, dict[int, str]] = {}
    for i, verdict in enumerate(verdicts):
        text, after[i] = _fresh(verdict)
        if text:
            stale.setdefault(verdict.place.file, {})[i] = text
    for file, texts in stale.items():
        written = _written(file, {i: (after[i], text) for i, text in texts.items()})
        for i, verdict in written.items():
            after[i] = verdict
    return after


def _fresh(verdict: Verdict) -> tuple[str, Verdict]:
    """The number in its document's style, or nothing and why not."""
    claim, computed, written = verdict.claim, verdict.computed, verdict.written
    if verdict.holds or computed is None or written is None or claim.expect != "holds":
        return "", verdict
    value = Fraction(computed.value)
    text = write(written, value, _ROUNDING[claim.relation])
    again = read(text, computed.unit)
    if holds(claim, again, value) and (again.value or not value):
        return text, verdict
    told = f"{verdict.problem}; in its style it would be {text!r}, so it was left as it is"
    return "", msgspec.structs.replace(verdict, problem=told)


def _written(file: str, stale: Mapping[int, tuple[Verdict, str]]) -> dict[int, Verdict]:
    """Replaces a file at once, or leaves it as it was; and what became of its stale claims."""
    after: dict[int, Verdict] = {}
    try:
        text = read_text(file)
        for i, (verdict, fresh) in _from_the_end(stale):
            start, end = verdict.place.start, verdict.place.end
            if text[start:end] == verdict.claim.value:
                text = text[:start] + fresh + text[end:]
                after[i] = msgspec.structs.replace(verdict, problem="", refreshed=fresh)
            else:
                told = f"{verdict.problem}; its source reads otherwise, so it was left as it is"
                after[i] = msgspec.structs.replace(verdict, problem=told)
        if any(verdict.refreshed for verdict in after.values()):
            _replace(os.path.realpath(file), text)
    except (RefreshError, DescriptionError) as error:
        told = f"{error}, so nothing of it was refreshed"
    except OSError as error:
        told = f"it cannot be written ({error.strerror}), so nothing of it was refreshed"
    else:
        return after
    return {i: _failed(verdict, told) for i, (verdict, _) in stale.items()}


def _from_the_end(
    stale: Mapping[int, tuple[Verdict, str]],
) -> list[tuple[int, tuple[Verdict, str]]]:
    """Stale claims in an order in which no edit moves the place of another."""
    return sorted(stale.items(), key=lambda item: item[1][0].place.start, reverse=True)


def _failed(verdict: Verdict, problem: str) -> Verdict:
    told = f"{verdict.problem}; {problem}"
    return msgspec.structs.replace(verdict, problem=told, unreadable=True)


def _replace(file: str, text: str) -> None:
    """Puts a new file in the place of an old one, with its owner and permissions."""
    old = os.stat(file)
    if not old.st_mode & stat.S_IWUSR or not os.access(file, os.W_OK):
        raise RefreshError("the file is read-only")
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(file), prefix=".txcalc-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if hasattr(os, "chown"):
            os.chown(temporary, old.st_uid, old.st_gid)
        os.chmod(temporary, stat.S_IMODE(old.st_mode))
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise
