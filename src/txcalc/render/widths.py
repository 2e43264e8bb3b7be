"""How a sheet stands in a width: as one table, as several below each other, or row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import msgspec
from rich.cells import cell_len

from txcalc.render.sheet import PAGE, Column, Sheet
from txcalc.render.wrap import least, wrapped

MARGIN, BETWEEN, INDENT = 1, 3, 4
"""Characters before a table, between two columns, and before what stands below a row's name."""
_NARROWEST, _SIDE = 16, 4
"""The least widths of a column of text beside others, and of headings that stand at its side."""
_WORD = Column("", "word")


class Screen(msgspec.Struct, frozen=True):
    """The lines of one table; the last of its head is a rule."""

    head: list[str]
    body: list[str]


class _Strip(msgspec.Struct, frozen=True):
    """A column with its cells: how wide it is where nothing wraps, and how narrow it may be."""

    column: Column
    cells: list[str]
    natural: int
    least: int


_Group = list[_Strip]


def pages(sheet: Sheet, width: int | None) -> list[Screen]:
    """The tables of a sheet, no line of which is wider than ``width``.

    Columns that do not fit follow in further tables beside the same keys; a sheet of text, or one
    with a number too wide for that, is written row by row.  Without a width, which is a pipe's, all
    columns stand in one table.
    """
    strips = [_strip(sheet, i, width) for i in range(len(sheet.columns))]
    keys, others = strips[: sheet.keys], strips[sheet.keys :]
    if width is None:
        return [_table(strips, PAGE)]
    groups = _groups(keys, others, width)
    is_text = any(strip.column.kind in ("text", "fitted") for strip in others)
    if not groups or (is_text and len(groups) > 1):
        return [Screen([], list(_row_by_row(keys, others, width)))]
    return [_table([*keys, *group], width) for group in groups]


def _strip(sheet: Sheet, i: int, width: int | None) -> _Strip:
    column, cells = sheet.columns[i], [row[i] for row in sheet.rows]
    shown = max((cell_len(line) for cell in cells for line in cell.split("\n")), default=0)
    narrow = shown
    if column.kind == "fitted" or (column.kind == "text" and width is not None):
        narrow = max(map(least, cells), default=0)
        if width is not None and i >= sheet.keys:
            narrow = max(narrow, min(shown, _NARROWEST))
    return _headed(_Strip(column, cells, shown, narrow), column, piped=width is None)


def _headed(strip: _Strip, column: Column, *, piped: bool = False) -> _Strip:
    """The cells below a heading, which may wrap in a terminal."""
    line = max(map(cell_len, column.heading.split("\n")))
    narrow = line if piped else least(column.heading)
    return _Strip(column, strip.cells, max(strip.natural, line), max(strip.least, narrow))


def _groups(keys: _Group, others: _Group, width: int) -> list[_Group]:
    """The columns of each table; none where one of them is too wide."""
    groups: list[_Group] = []
    for part in _parts(keys, others, width):
        joined = _named([*groups[-1], *part]) if groups else []
        if joined and _fits([*keys, *joined], width):
            groups[-1] = joined
        else:
            groups.append(_named(part))
    return groups if all(_fits([*keys, *group], width) for group in groups) else []


def _parts(keys: _Group, others: _Group, width: int) -> Iterator[_Group]:
    """Each group of columns whole, or without its bars, or column by column, as it fits."""
    for unit in _units(others):
        plain = [strip for strip in unit if strip.column.kind != "bar"]
        for whole in (unit, plain):
            if _fits([*keys, *whole], width):
                yield whole
                break
        else:
            yield from ([strip] for strip in plain)


def _units(strips: _Group) -> list[_Group]:
    """Each column with those of its group."""
    units: list[_Group] = []
    for strip in strips:
        if units and 0 != strip.column.group == units[-1][0].column.group:
            units[-1].append(strip)
        else:
            units.append([strip])
    return units


def _named(group: _Group) -> _Group:
    """The columns of a table, each that stands apart from its group by its own name."""
    firsts = {strip.column.group for strip in group if not strip.column.apart}
    return [
        _headed(strip, Column(strip.column.apart, strip.column.kind))
        if strip.column.apart and strip.column.group not in firsts
        else strip
        for strip in group
    ]


def _fits(group: _Group, width: int) -> bool:
    return sum(strip.least for strip in group) <= _room(group, width)


def _room(group: _Group, width: int) -> int:
    """Characters that the cells of a line may take."""
    return width - MARGIN - BETWEEN * (len(group) - 1)


def _widths(group: _Group, width: int) -> list[int]:
    """Least widths, and for those that want more one common level that all of them may reach."""
    room, level = _room(group, width), max(strip.natural for strip in group)
    while True:
        widths = [min(strip.natural, max(strip.least, level)) for strip in group]
        if sum(widths) <= room or not level:
            return [max(w, strip.least) for w, strip in zip(widths, group, strict=True)]
        level -= 1


def _table(group: _Group, width: int) -> Screen:
    widths = _widths(group, width)
    columns = [strip.column for strip in group]
    headings = [wrapped(c.heading, w).split("\n") for c, w in zip(columns, widths, strict=True)]
    height = max(map(len, headings))
    raised = ["\n".join([""] * (height - len(lines)) + lines) for lines in headings]
    total = sum(widths) + BETWEEN * (len(widths) - 1)
    body = [
        line
        for cells in zip(*(strip.cells for strip in group), strict=True)
        for line in _lines(cells, columns, widths)
    ]
    head = [*_lines(raised, columns, widths), " " * MARGIN + "─" * total]
    return Screen(head, body)


def _lines(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> Iterator[str]:
    """The lines of one row: cells that may wrap are wrapped, and each is put in its place."""
    shown = [wrapped(cell, width).split("\n") for cell, width in zip(cells, widths, strict=True)]
    for pieces in zip_longest(*shown, fillvalue=""):
        placed = map(_placed, pieces, columns, widths)
        yield (" " * MARGIN + (" " * BETWEEN).join(placed)).rstrip()


def _placed(text: str, column: Column, width: int) -> str:
    space = " " * (width - cell_len(text))
    return space + text if column.kind == "number" else text + space


def _row_by_row(keys: _Group, others: _Group, width: int) -> Iterator[str]:
    """What a row is about, and below it each of its cells behind the heading, or below it."""
    shown = [strip for strip in others if strip.column.kind != "bar"]
    labels = [_label(keys, i) for i in range(len(keys[0].cells))]
    room = width - MARGIN - BETWEEN - max(map(_indent, labels), default=0)
    numbers = [cell for s in shown if s.column.kind == "number" for cell in s.cells]
    longest = max(cell_len(strip.column.heading) for strip in shown)
    side = min(longest, width // 3, room - max(map(cell_len, numbers), default=0))
    for i, label in enumerate(labels):
        yield from _indented(label, 0, width)
        indent = _indent(label)
        for strip in shown:
            heading, cell = strip.column.heading.replace("\n", " "), strip.cells[i]
            if cell and side >= min(longest, _SIDE):
                widths = [side, width - MARGIN - BETWEEN - indent - side]
                lines = _lines([heading, cell], [_WORD, _WORD], widths)
                yield from (" " * indent + line for line in lines)
            elif cell:
                yield from _indented(heading, indent, width)
                yield from _indented(cell, indent + INDENT // 2, width)


def _indented(text: str, indent: int, width: int) -> Iterator[str]:
    """A text on lines of its own."""
    yield from _lines([" " * indent + text], [_WORD], [width - MARGIN])


def _label(keys: _Group, i: int) -> str:
    """A row's only key, or each behind its heading."""
    if len(keys) == 1:
        return keys[0].cells[i]
    return ", ".join(f"{strip.column.heading} {strip.cells[i]}" for strip in keys)


def _indent(label: str) -> int:
    """Characters before what stands below a label."""
    return INDENT + len(label) - len(label.lstrip(" "))
