"""``check --write``: stale numbers replaced in place, each in its own style."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction

import msgspec

from txcalc.claims.checking import holds
from txcalc.claims.claim import Verdict
from txcalc.claims.pages import Page
from txcalc.claims.replacing import ReplaceError, clear, replace
from txcalc.claims.written import Rounding, above, below, read_number, restyled, towards_zero

_ROUNDING: dict[str, Rounding] = {
    "rounds": round, "within": round, "truncates": towards_zero, "over": below, "under": above,
}  # fmt: skip
Edit = tuple[int, int, str]
"""The span of a text, and what stands there instead."""


def refresh(page: Page, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Replaces the stale numbers of a page, and says what became of each claim.

    Misprints and figures from rounded inputs are never touched.  A page that cannot be written, or
    is no longer what was read, is left as it is, and its claims say so.
    """
    if not page.leads_out:
        clear(page.target)
    after = list(verdicts)
    edits: dict[int, Edit] = {}
    for i, verdict in enumerate(verdicts):
        number, problem = _fresh(verdict)
        if number and (edit := _edit(page.text, verdict, number)):
            edits[i] = edit
            after[i] = msgspec.structs.replace(verdict, problem="", refreshed=number)
        elif number or problem:
            problem = problem or "its source reads otherwise, so it was left as it is"
            after[i] = _with_problem(verdict, problem)
    if edits and (problem := _put(page, edits.values())):
        for i in edits:
            after[i] = _with_problem(verdicts[i], problem, unreadable=True)
    return after


def _fresh(verdict: Verdict) -> tuple[str, str]:
    """A stale number in its document's style, or why there is none."""
    claim, computed, written = verdict.claim, verdict.computed, verdict.written
    if verdict.holds or computed is None or written is None or claim.expect != "holds":
        return "", ""
    value = Fraction(computed.value)
    text = restyled(written, value, _ROUNDING[claim.relation])
    again = read_number(text, computed.unit)
    if holds(claim, again, value) and (again.value or not value):
        return text, ""
    return "", f"in its style it would be {text!r}, so it was left as it is"


def _edit(text: str, verdict: Verdict, number: str) -> Edit | None:
    """Where a number stands in a text, and another one as it is written there."""
    start, end = verdict.place.start, verdict.place.end
    source, value = text[start:end], verdict.claim.value
    if source == value:
        return start, end, number
    if _unescaped(source) == value:
        return start, end, json.dumps(number, ensure_ascii=source.isascii())[1:-1]
    return None


def _unescaped(source: str) -> str | None:
    """What stands between the quotes of a string in JSON or YAML."""
    try:
        return str(json.loads(f'"{source}"'))
    except json.JSONDecodeError:
        return None


def _put(page: Page, edits: Iterable[Edit]) -> str:
    """Replaces the file of a page at once; why not, where it stays as it was."""
    pieces, position = [], 0
    for start, end, number in sorted(edits):
        pieces += [page.text[position:start], number]
        position = end
    text = "".join([*pieces, page.text[position:]])
    try:
        if page.leads_out:
            raise ReplaceError("its link leads out of the folder")
        replace(page.target, page.raw, text.encode("utf-8"))
    except ReplaceError as error:
        return f"{error}, so nothing of it was refreshed"
    except OSError as error:
        return f"it cannot be written ({error.strerror}), so nothing of it was refreshed"
    return ""


def _with_problem(verdict: Verdict, problem: str, *, unreadable: bool = False) -> Verdict:
    return msgspec.structs.replace(
        verdict, problem=f"{verdict.problem}; {problem}", unreadable=unreadable
    )
