"""What rows of figures are called, and what an answer says below its table."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from txcalc.report import address as grammar
from txcalc.report.report import Report

_STEP = "  "
_NAMED = re.compile(r"(\w+):? (\S+)(?: \((.*)\))?")
"""An assumption that is a name and a value, and where the value is from."""


def kinds(reports: Iterable[Report]) -> set[str]:
    """The kinds of blocks that short addresses name."""
    return {kind for r in reports if len(r.block_kinds) > 1 for kind in r.block_kinds}


def names(reports: Sequence[Report]) -> list[str]:
    """The rows of all reports by their short addresses, each below the nearest one above it.

    A block that no report has a figure of is a row as well.
    """
    blocks = kinds(reports)
    rows: dict[str, None] = {}
    for name in merged([list(map(report.short, report.shown)) for report in reports]):
        words = grammar.split(name, blocks)
        if grammar.first(words[1]) == "block":
            rows[".".join(words[:2])] = None
        rows[name] = None
    below: dict[str, list[str]] = {}
    for name in rows:
        above = grammar.above(name, rows, blocks)
        below.setdefault(above[-1] if above else "", []).append(name)
    return list(_in_order("", below))


def _in_order(above: str, below: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name in below.get(above, ()):
        yield name
        yield from _in_order(name, below)


def labels(reports: Sequence[Report], rows: Collection[str]) -> dict[str, str]:
    """What each row adds to the one above it, indented by how many are above."""
    blocks, counts = kinds(reports), layers(reports)
    own = {r.short(address): label for r in reports for address, label in r.labels.items()}
    labelled_rows = {}
    for name in rows:
        above = grammar.above(name, rows, blocks)
        words = grammar.below(name, above[-1] if above else grammar.first(name))
        text = own.get(name, words.replace(".", " ").replace("_", " "))
        if count := set(counts.get(name, {}).values()):
            text += f" ({count.pop() if len(count) == 1 else 'x N'})"
        labelled_rows[name] = _STEP * len(above) + text
    return labelled_rows


def layers(reports: Sequence[Report]) -> dict[str, dict[int, str]]:
    """How many layers a block stands for in each of the reports, by their places."""
    counts: dict[str, dict[int, str]] = {}
    for i, report in enumerate(reports):
        for address, note in report.notes.items():
            counts.setdefault(report.short(address), {})[i] = note
    return counts


def layer_rows(
    reports: Sequence[Report], labelled: Mapping[str, str]
) -> dict[str, tuple[str, dict[int, str]]]:
    """By a block's row the label and the cells of one below it, where its layers differ."""
    return {
        name: (
            " " * (len(labelled[name]) - len(labelled[name].lstrip())) + f"{_STEP}N",
            {i: note.removeprefix("x ") for i, note in notes.items()},
        )
        for name, notes in layers(reports).items()
        if len(set(notes.values())) > 1
    }


def differing(reports: Sequence[Report]) -> dict[str, dict[int, str]]:
    """Assumptions in which models differ: by name the value of each report, by its place."""
    remarked: dict[str, dict[int, tuple[str, str]]] = {}
    for i, report in enumerate(reports):
        for line in report.assumptions:
            if not _is_shared(line, reports) and (match := _NAMED.fullmatch(line)):
                remarked.setdefault(match[1], {})[i] = (match[2], match[3] or "")
    rows = {}
    for name, values in remarked.items():
        remarks = {remark for _, remark in values.values()}
        common = remarks.pop() if len(remarks) == 1 else ""
        rows[f"{name} ({common})" if common else name] = {
            i: value if common or not remark else f"{value} ({remark})"
            for i, (value, remark) in values.items()
        }
    return rows


def notes(reports: Sequence[Report]) -> list[str]:
    """What all assumed, what only some did and no row says, and the conventions."""
    shared = [line for line in reports[0].assumptions if _is_shared(line, reports)]
    lines = [f"Assumed: {'; '.join(shared)}"] if shared else []
    own = merged([[a for a in r.assumptions if not _is_shared(a, reports)] for r in reports])
    for line in own:
        if not _NAMED.fullmatch(line):
            models = [report.model for report in reports if line in report.assumptions]
            lines.append(f"{', '.join(models)}: {line}")
    return [*lines, *merged([report.conventions for report in reports])]


def _is_shared(line: str, reports: Iterable[Report]) -> bool:
    return all(line in report.assumptions for report in reports)


def merged(lists: Sequence[Iterable[str]]) -> list[str]:
    """All items once, each new one after the item that it follows in its own list."""
    merged_items: list[str] = []
    for items in lists:
        place = 0
        for item in items:
            if item not in merged_items:
                merged_items.insert(place, item)
            place = merged_items.index(item) + 1
    return merged_items
