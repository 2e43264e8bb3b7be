"""Verdicts on claims: a table, JSON, or annotations for GitHub."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from txcalc.claims.claim import Verdict
from txcalc.claims.written import in_percent
from txcalc.render.sheet import Column, Sheet
from txcalc.render.table import WIDTH, capture, drawn, terminal
from txcalc.render.values import raw
from txcalc.render.wrap import wrapped
from txcalc.report.format import binary, decimal, printable

MIN_NAME, DOCUMENTED, MARGINS = 18, 16, 13
"""The least width of the column of claims, that of the numbers' column, and what lies between."""

_LONGEST_CLAIM = 200
_STYLES = {
    "holds": "green", "misprint": "green", "rounded": "green", "refreshed": "yellow",
    "fails": "red", "unreadable": "red",
}  # fmt: skip


def verdicts_in(
    fmt: Literal["table", "json", "github"], verdicts: Sequence[Verdict], *, quiet: bool = False
) -> str:
    """The verdicts in a format; those alone that do not hold, if ``quiet``."""
    shown = [verdict for verdict in verdicts if not (quiet and verdict.holds)]
    match fmt:
        case "table" if quiet and not shown:
            return ""
        case "table":
            tables = [] if quiet else _tables(shown)
            return capture(*tables, *_problems(shown), _count(verdicts), width=WIDTH)
        case "json":
            return _json(shown)
        case "github":
            return "".join(_annotation(verdict) for verdict in shown if not verdict.holds)


def failure(verdict: Verdict) -> str:
    """What is wrong, where, and the formula of the right number."""
    claim = verdict.claim
    where = f"{printable(verdict.place.file)}:{verdict.place.line}: "
    name = f"{printable(claim.id)}: " if claim.id and not claim.id.startswith("line ") else ""
    if verdict.unreadable:
        return f"{where}{name}{printable(verdict.problem)}"
    by = f" by {printable(claim.source)}" if claim.source else ""
    problem = f"{_documented(verdict)} is documented{by}, but {printable(verdict.problem)}"
    lines = [f"{where}{name}{problem}"]
    for formula in verdict.formulas:
        address = printable(formula.address)
        lines.append(f"    {address} = {printable(formula.letters)}")
        if formula.numbers != formula.letters:
            lines.append(f"{' ' * (len(address) + 4)} = {printable(formula.numbers)}")
    return "\n".join(lines)


def _tables(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """A table for each file, below its name if there are several."""
    by_file: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_file.setdefault(verdict.place.file, []).append(verdict)
    for file, of_file in by_file.items():
        if len(by_file) > 1:
            yield Text(f"\n{printable(file)}", style="bold")
        yield from _table(of_file)


def _table(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """One row a claim, whose status has a colour."""
    for part in drawn(_sheet(verdicts)):
        if isinstance(part, Text):
            for status, style in _STYLES.items():
                part.highlight_regex(rf"(?m)(?<= ){status}(?:: \S+)?$", style)
        yield part


def _sheet(verdicts: Sequence[Verdict]) -> Sheet:
    cells = [(wrapped(_documented(v), DOCUMENTED), _computed(v), _status(v)) for v in verdicts]
    names = list(map(_name, verdicts))
    if terminal() is None:
        taken = sum(max(map(_width, column)) for column in zip(*cells, strict=True))
        width = max(MIN_NAME, WIDTH - taken - MARGINS)
        names = [wrapped(name, width) for name in names]
    return Sheet(
        columns=[
            Column("claim", "text"),
            Column("documented"),
            Column("computed"),
            Column("", "word"),
        ],
        rows=[[name, *row] for name, row in zip(names, cells, strict=True)],
    )


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _problems(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """What is wrong with those that fail, in lines that keep their indentation where they wrap."""
    for verdict in verdicts:
        if not verdict.holds and not verdict.unreadable:
            for line in failure(verdict).split("\n"):
                rest = line.lstrip(" ")
                yield Padding(Text(rest, overflow="fold"), (0, 0, 0, len(line) - len(rest)))


def _count(verdicts: Sequence[Verdict]) -> Text:
    refreshed = sum(bool(v.refreshed) for v in verdicts)
    failed = sum(not v.holds and not v.unreadable for v in verdicts)
    unreadable = sum(v.unreadable for v in verdicts)
    hold = len(verdicts) - failed - unreadable - refreshed
    counts = [f"{hold} hold", f"{failed} fail"]
    counts += [f"{refreshed} refreshed"] * bool(refreshed)
    counts += [f"{unreadable} cannot be read"] * bool(unreadable)
    claims = "1 claim" if len(verdicts) == 1 else f"{len(verdicts)} claims"
    style = "red" if failed or unreadable else "green"
    return Text(f"{claims}: {', '.join(counts)}", style=style if verdicts else "")


def _json(verdicts: Sequence[Verdict]) -> str:
    """One object a claim."""
    text = json.dumps(list(map(_row, verdicts)), ensure_ascii=False, indent=2)
    return "".join(f"{printable(line)}\n" for line in text.split("\n"))


def _row(verdict: Verdict) -> dict[str, Any]:
    claim, place = verdict.claim, verdict.place
    return {
        "file": place.file,
        "line": place.line,
        "id": claim.id,
        "model": claim.model,
        "claim": claim.claim,
        "source": claim.source,
        "says": claim.says,
        "options": claim.options,
        "relation": claim.relation,
        "expect": claim.expect,
        "documented": claim.value,
        "computed": None if verdict.computed is None else raw(verdict.computed),
        "status": _status(verdict),
        "holds": verdict.holds,
        "problem": verdict.problem,
    }


def _annotation(verdict: Verdict) -> str:
    """One line for GitHub, which shows no annotation at ``./page.md``."""
    file = _escaped(os.path.normpath(verdict.place.file).replace(os.sep, "/"))
    file = printable(file.replace(":", "%3A").replace(",", "%2C"))
    return f"::error file={file},line={verdict.place.line}::{_escaped(failure(verdict))}\n"


def _escaped(text: str) -> str:
    """A text as commands of GitHub hold it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _name(verdict: Verdict) -> str:
    claim = verdict.claim
    is_long = len(claim.claim) > _LONGEST_CLAIM
    stated = f"{claim.claim[: _LONGEST_CLAIM - 3]}..." if is_long else claim.claim
    return printable(f"{claim.id}: {claim.model} {stated}" if claim.model else claim.id)


def _documented(verdict: Verdict) -> str:
    prefixes = {"over": "> ", "under": "< ", "within": "≈ ", "truncates": "truncated "}
    return printable(prefixes.get(verdict.claim.relation, "") + verdict.claim.value)


def _computed(verdict: Verdict) -> str:
    if verdict.computed is None:
        return "-"
    quantity = verdict.computed
    if quantity.unit == "bytes":
        return binary(quantity.value)
    value = quantity.value
    if verdict.written and (share := in_percent(verdict.written, value)):
        return share
    is_short = -(10**15) < value < 10**15
    return decimal(value) if is_short else f"{float(value):.8g}"


def _status(verdict: Verdict) -> str:
    if verdict.unreadable:
        return "unreadable"
    if verdict.refreshed:
        return f"refreshed: {printable(verdict.refreshed)}"
    if not verdict.holds:
        return "fails"
    return {"holds": "holds", "misprint": "misprint", "rounded-inputs": "rounded"}[
        verdict.claim.expect
    ]
