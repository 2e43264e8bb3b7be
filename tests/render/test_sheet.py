"""A sheet stacked into narrower ones holds what it held."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from txcalc.render.sheet import BETWEEN, Column, Sheet, stacked

WIDTH = 80


def width(sheet: Sheet) -> int:
    """Characters of a line, the space after its last column with it."""
    columns = zip(*([c.heading for c in sheet.columns], *sheet.rows), strict=True)
    return sum(max(map(len, cells)) + BETWEEN for cells in columns)


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    keys = draw(st.integers(1, 2))
    count = draw(st.integers(keys + 1, 12))
    cell = st.text("0123456789,", max_size=30)
    rows = draw(st.lists(st.lists(cell, min_size=count, max_size=count), max_size=4))
    columns = [Column(f"{i}" * draw(st.integers(1, 25))) for i in range(count)]
    return Sheet(title="title", columns=columns, rows=rows, notes=["note"], keys=keys)


@given(sheets())
def test_every_column_stands_once_beside_the_keys(sheet: Sheet) -> None:
    parts = stacked(sheet, WIDTH)
    keys = sheet.columns[: sheet.keys]
    assert all(part.columns[: sheet.keys] == keys for part in parts)
    others = [column for part in parts for column in part.columns[sheet.keys :]]
    assert [*keys, *others] == sheet.columns
    for i, row in enumerate(sheet.rows):
        cells = [cell for part in parts for cell in part.rows[i][sheet.keys :]]
        assert [*row[: sheet.keys], *cells] == row
        assert all(part.rows[i][: sheet.keys] == row[: sheet.keys] for part in parts)


@given(sheets())
def test_a_part_is_as_wide_as_a_page_or_one_column_beside_the_keys(sheet: Sheet) -> None:
    parts = stacked(sheet, WIDTH)
    for part in parts:
        assert width(part) <= WIDTH or len(part.columns) == sheet.keys + 1
    if width(sheet) <= WIDTH:
        assert parts == [sheet]


@given(sheets())
def test_the_title_stands_first_and_the_notes_last(sheet: Sheet) -> None:
    first, *others = stacked(sheet, WIDTH)
    *above, last = (first, *others)
    assert (first.title, last.notes) == ("title", ["note"])
    assert all(part.title == "" for part in others)
    assert all(part.notes == [] for part in above)
