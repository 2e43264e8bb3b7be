"""The rows of an answer as each format prints them."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from tests.support.running import answer

Rows = list[dict[str, Any]]


def in_json(*command: object) -> Rows:
    """The rows of the only report."""
    (report,) = json.loads(answer(*command, "--format", "json"))
    rows: Rows = report["rows"]
    return rows


def in_csv(*command: object) -> Rows:
    """The rows below the header."""
    return list(csv.DictReader(io.StringIO(answer(*command, "--format", "csv"))))


def in_table(*command: object) -> list[list[str]]:
    """The cells of each row between the rule and the notes; a folded cell is put together."""
    lines = answer(*command).splitlines()
    rule = next(i for i, line in enumerate(lines) if set(line.strip()) == {"─"})
    end = next((i for i in range(rule, len(lines)) if not lines[i]), len(lines))
    rows: list[list[str]] = []
    starts: list[int] = []
    for line in lines[rule + 1 : end]:
        cells = [(found.start(), found.group()) for found in re.finditer(r"\S+(?: \S+)*", line)]
        if cells[0][0] > 12:
            for start, text in cells:
                above = rows[-1][starts.index(start)]
                gap = "" if above.endswith(("·", "_", ".", "-", "/")) else " "
                rows[-1][starts.index(start)] = above + gap + text
        else:
            rows.append([text for _, text in cells])
            starts = [start for start, _ in cells]
    return rows


def in_markdown(*command: object) -> list[list[str]]:
    """The cells of each row of the first table."""
    lines = answer(*command, "--format", "markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    return [[cell.replace("&nbsp;", " ").strip() for cell in row if cell] for row in rows]
