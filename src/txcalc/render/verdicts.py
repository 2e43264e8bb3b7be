"""Verdicts on claims: a table, JSON, or annotations for GitHub."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from txcalc.claims.claim import Verdict
from txcalc.render.sheet import Column, Sheet
from txcalc.render.table import WIDTH, capture, drawn
from txcalc.render.values import raw
from txcalc.render.wrap import wrapped
from txcalc.report.format import binary, decimal

MIN_NAME, DOCUMENTED, MARGINS = 18, 16, 13
"""The least width of the column of claims, that of the numbers' column, and what lies between."""


def verdicts_table(verdicts: Sequence[Verdict]) -> str:
    """A table for each file; below them, what is wrong and how the right numbers came to be."""
    by_file: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_file.setdefault(verdict.place.file, []).append(verdict)
    tables: list[RenderableType] = []
    for file, of_file in by_file.items():
        title = [Text(f"\n{file}", style="bold")] if len(by_file) > 1 else []
        tables += [*title, *drawn(_sheet(of_file))]
    wrong = [line for v in verdicts if not v.holds for line in _hanging(failure(v))]
    return capture(*tables, *wrong, Text(_count(verdicts)), width=WIDTH)


def _sheet(verdicts: Sequence[Verdict]) -> Sheet:
    """One row a claim."""
    cells = [(wrapped(_documented(v), DOCUMENTED), _computed(v), _status(v)) for v in verdicts]
    taken = sum(max(map(_width, column)) for column in zip(*cells, strict=True))
    width = max(MIN_NAME, WIDTH - taken - MARGINS)
    return Sheet(
        columns=[
            Column("claim", "text"),
            Column("documented"),
            Column("computed"),
            Column("", "word"),
        ],
        rows=[[wrapped(_name(v), width), *row] for v, row in zip(verdicts, cells, strict=True)],
    )


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _hanging(text: str) -> Iterator[Padding]:
    """Lines that keep their indentation where they wrap."""
    for line in text.split("\n"):
        rest = line.lstrip(" ")
        yield Padding(Text(rest), (0, 0, 0, len(line) - len(rest)))


def _count(verdicts: Sequence[Verdict]) -> str:
    refreshed = sum(bool(v.refreshed) for v in verdicts)
    failed = sum(not v.holds and not v.unreadable for v in verdicts)
    unreadable = sum(v.unreadable for v in verdicts)
    hold = len(verdicts) - failed - unreadable - refreshed
    counts = [f"{hold} hold", f"{failed} fail"]
    counts += [f"{refreshed} refreshed"] * bool(refreshed)
    counts += [f"{unreadable} cannot be read"] * bool(unreadable)
    claims = "1 claim" if len(verdicts) == 1 else f"{len(verdicts)} claims"
    return f"{claims}: {', '.join(counts)}"


def verdicts_json(verdicts: Sequence[Verdict]) -> str:
    """One object a claim."""
    rows = [
        {
            "file": v.place.file,
            "line": v.place.line,
            "id": v.claim.id,
            "model": v.claim.model,
            "claim": v.claim.claim,
            "source": v.claim.source,
            "says": v.claim.says,
            "options": v.claim.options,
            "relation": v.claim.relation,
            "expect": v.claim.expect,
            "documented": v.claim.value,
            "computed": None if v.computed is None else raw(v.computed),
            "status": _status(v),
            "holds": v.holds,
            "problem": v.problem,
        }
        for v in verdicts
    ]
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def verdicts_github(verdicts: Sequence[Verdict]) -> str:
    """One annotation for each claim that does not hold."""
    return "".join(_annotation(verdict) for verdict in verdicts if not verdict.holds)


def _annotation(verdict: Verdict) -> str:
    file, line = _property(_path(verdict.place.file)), verdict.place.line
    return f"::error file={file},line={line}::{_one_line(failure(verdict))}\n"


def _path(file: str) -> str:
    """As GitHub names a file: it shows no annotation at ``./page.md``."""
    return os.path.normpath(file).replace(os.sep, "/")


def _one_line(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _one_line(text).replace(":", "%3A").replace(",", "%2C")


def _name(verdict: Verdict) -> str:
    claim = verdict.claim
    stated = claim.claim if len(claim.claim) <= 200 else f"{claim.claim[:197]}..."
    return f"{claim.id}: {claim.model} {stated}" if claim.model else claim.id


def _documented(verdict: Verdict) -> str:
    prefixes = {"over": "> ", "under": "< ", "within": "≈ ", "truncates": "truncated "}
    return prefixes.get(verdict.claim.relation, "") + verdict.claim.value


def _computed(verdict: Verdict) -> str:
    if verdict.computed is None:
        return "-"
    quantity = verdict.computed
    if quantity.unit == "bytes":
        return binary(quantity.value)
    return decimal(quantity.value) if quantity.value < 10**15 else f"{float(quantity.value):.8g}"


def _status(verdict: Verdict) -> str:
    if verdict.unreadable:
        return "unreadable"
    if verdict.refreshed:
        return f"refreshed: {verdict.refreshed}"
    if not verdict.holds:
        return "fails"
    return {"holds": "holds", "misprint": "misprint", "rounded-inputs": "rounded"}[
        verdict.claim.expect
    ]


def failure(verdict: Verdict) -> str:
    """What is wrong, where, and the formula of the right number."""
    claim = verdict.claim
    where = f"{verdict.place.file}:{verdict.place.line}: "
    name = f"{claim.id}: " if claim.id and not claim.id.startswith("line ") else ""
    if verdict.unreadable:
        return f"{where}{name}{verdict.problem}"
    by = f" by {claim.source}" if claim.source else ""
    lines = [f"{where}{name}{_documented(verdict)} is documented{by}, but {verdict.problem}"]
    for formula in verdict.formulas:
        lines.append(f"    {formula.address} = {formula.letters}")
        if formula.numbers != formula.letters:
            lines.append(f"{' ' * (len(formula.address) + 4)} = {formula.numbers}")
    return "\n".join(lines)
