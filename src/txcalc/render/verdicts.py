"""Verdicts on claims: a table, JSON, or annotations for GitHub."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.text import Text

from txcalc.claims.claim import Verdict
from txcalc.formula import substituted, symbolic
from txcalc.numerals import binary, decimal
from txcalc.render.data import raw
from txcalc.render.table import WIDTH, capture, plain_table


def as_table(verdicts: Sequence[Verdict]) -> str:
    """One row a claim; below it, what is wrong and how the right number came to be."""
    table = plain_table(["claim", "documented", "computed", ""], 1, None)
    for verdict in verdicts:
        table.add_row(Text(_name(verdict)), Text(_documented(verdict)), Text(_computed(verdict)),
                      Text(_status(verdict)))  # fmt: skip
    wrong = [Text(told(verdict)) for verdict in verdicts if not verdict.holds]
    failed = sum(not v.holds and not v.unreadable for v in verdicts)
    unreadable = sum(v.unreadable for v in verdicts)
    count = f"{len(verdicts)} claims: {len(verdicts) - failed - unreadable} hold, {failed} fail"
    count += f", {unreadable} cannot be read" if unreadable else ""
    return capture(table, *wrong, Text(count), width=WIDTH)


def as_json(verdicts: Sequence[Verdict]) -> str:
    """One object a claim."""
    rows = [
        {
            "file": v.place.file,
            "line": v.place.line,
            "id": v.claim.id,
            "model": v.claim.model,
            "claim": v.claim.claim,
            "documented": v.claim.value,
            "computed": None if v.computed is None else raw(v.computed),
            "holds": v.holds,
            "problem": v.problem,
        }
        for v in verdicts
    ]
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def as_github(verdicts: Sequence[Verdict]) -> str:
    """One annotation for each claim that does not hold."""
    return "".join(
        f"::error file={v.place.file},line={v.place.line}::{_one_line(told(v))}\n"
        for v in verdicts
        if not v.holds
    )


def _one_line(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _name(verdict: Verdict) -> str:
    claim = verdict.claim
    return f"{claim.id}: {claim.model} {claim.claim}" if claim.model else claim.id


def _documented(verdict: Verdict) -> str:
    signs = {"over": "> ", "under": "< ", "within": "≈ "}
    return signs.get(verdict.claim.relation, "") + verdict.claim.value


def _computed(verdict: Verdict) -> str:
    if verdict.computed is None:
        return "-"
    quantity = verdict.computed
    return binary(quantity.value) if quantity.unit == "bytes" else decimal(quantity.value)


def _status(verdict: Verdict) -> str:
    if verdict.unreadable:
        return "unreadable"
    if not verdict.holds:
        return "fails"
    return "holds" if verdict.claim.expect == "holds" else verdict.claim.expect


def told(verdict: Verdict) -> str:
    """What is wrong, where, and the formula of the right number."""
    claim, computed = verdict.claim, verdict.computed
    where = f"{verdict.place.file}:{verdict.place.line}"
    if computed is None:
        return f"{where}: {verdict.problem}"
    lines = [f"{where}: {claim.value} is documented, but {verdict.problem}"]
    lines += [f"    {claim.claim} = {symbolic(computed)}", f"    = {substituted(computed)}"]
    return "\n".join(lines)
