"""A sheet fitted to a width holds what it held: each row's label, each number whole."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from txcalc.render.sheet import PAGE, Column, Sheet
from txcalc.render.widths import Screen, pages

WIDTHS = st.integers(40, 200)
WORDS = st.text("abcde", min_size=1, max_size=12)
LABELS = st.builds(
    lambda indent, joint, words: " " * indent + joint.join(words),
    st.integers(0, 2),
    st.sampled_from(" ._-"),
    st.lists(WORDS, min_size=1, max_size=3),
)
NUMBERS = st.one_of(
    st.integers(0, 10**15).map("{:,}".format),
    st.integers(0, 10**12).map(lambda value: f"{value / 1000:,.3f}"),
    st.just("-"),
)
HEADINGS = st.lists(WORDS, min_size=1, max_size=3).map("-".join)
FORMULAS = st.builds(
    lambda joint, words: joint.join(words),
    st.sampled_from(("·", " + ", " x ")),
    st.lists(WORDS, min_size=1, max_size=6),
)


@st.composite
def sheets_of_numbers(draw: st.DrawFn) -> Sheet:
    """A label and up to a dozen columns of numbers, some of them in groups."""
    count = draw(st.integers(1, 12))
    groups = sorted(draw(st.lists(st.integers(0, 5), min_size=count, max_size=count)))
    columns = [Column(draw(HEADINGS), group=group) for group in groups]
    cells = st.lists(NUMBERS, min_size=count, max_size=count)
    labels = draw(st.lists(LABELS, min_size=1, max_size=6))
    return Sheet(
        columns=[Column("", "text"), *columns],
        rows=[[label, *draw(cells)] for label in labels],
    )


@st.composite
def sheets_of_text(draw: st.DrawFn) -> Sheet:
    """A label, up to three columns of formulas, and a number."""
    count = draw(st.integers(1, 3))
    kinds = st.sampled_from(("text", "fitted"))
    columns = [Column(draw(HEADINGS), draw(kinds)) for _ in range(count)]
    formulas = st.lists(FORMULAS, min_size=count, max_size=count)
    labels = draw(st.lists(LABELS, min_size=1, max_size=6))
    return Sheet(
        columns=[Column("", "text"), *columns, Column("value")],
        rows=[[label, *draw(formulas), draw(NUMBERS)] for label in labels],
    )


def together(text: str) -> str:
    """A text without what wrapping adds to it."""
    return re.sub(r"\s", "", text)


def columns(page: Screen) -> list[str]:
    """The text of each column from top to bottom; columns are apart where all lines are blank."""
    *headings, rule = page.head
    lines = [line.ljust(len(rule)) for line in (*headings, *page.body)]
    blank = "".join(" " if set(column) == {" "} else "x" for column in zip(*lines, strict=True))
    spans = [match.span() for match in re.finditer(r"x+(?: {1,2}x+)*", blank)]
    return ["".join(line[start:end] + "\n" for line in lines) for start, end in spans]


def numbers(page: Screen) -> list[tuple[str, list[str]]]:
    """The label of each row, and the numbers that stand in its first line."""
    rows: list[tuple[str, list[str]]] = []
    for line in page.body:
        words = line.split()
        values = [word for word in words if re.fullmatch(r"[\d,.]+|-", word)]
        label = "".join(word for word in words if word not in values)
        if values:
            rows.append((label, values))
        else:
            rows[-1] = (rows[-1][0] + label, rows[-1][1])
    return rows


@given(sheets_of_numbers(), WIDTHS)
@settings(max_examples=100)
def test_every_number_stands_whole_in_the_row_of_its_label(sheet: Sheet, width: int) -> None:
    parts = pages(sheet, width)
    assert all(len(line) <= width for part in parts for line in (*part.head, *part.body))
    rows = [numbers(part) for part in parts]
    for i, (label, *cells) in enumerate(sheet.rows):
        assert {of_part[i][0] for of_part in rows} == {together(label)}
        assert [number for of_part in rows for number in of_part[i][1]] == cells


@given(sheets_of_numbers(), WIDTHS)
def test_every_heading_stands_above_its_numbers(sheet: Sheet, width: int) -> None:
    read = [
        together(column) for part in pages(sheet, width) for column in columns(part) if part.head
    ]
    keys = "".join(together(label) for label, *_ in sheet.rows)
    expected = [
        column.heading + "".join(cells)
        for column, *cells in zip(sheet.columns[1:], *(row[1:] for row in sheet.rows), strict=True)
    ]
    assert [column for column in read if column != keys] == expected


@given(sheets_of_text(), WIDTHS)
@settings(max_examples=100)
def test_text_is_read_down_its_column_or_below_its_label(sheet: Sheet, width: int) -> None:
    [page] = pages(sheet, width)
    assert all(len(line) <= width for line in (*page.head, *page.body))
    if page.head:
        expected = ["".join(row[i] for row in sheet.rows) for i in range(len(sheet.columns))]
        headed = [c.heading + text for c, text in zip(sheet.columns, expected, strict=True)]
        assert [together(column) for column in columns(page)] == list(map(together, headed))
        return
    lines = "".join(page.body)
    for label, *cells in sheet.rows:
        for piece in re.split(r"[ ·._-]", " ".join([label, *cells])):
            assert piece in lines
        assert re.search(rf"(?<![\d,.]){re.escape(cells[-1])}(?![\d,])", "\n".join(page.body))


@given(st.one_of(sheets_of_numbers(), sheets_of_text()))
def test_a_pipe_gets_one_table_a_line_a_row_but_for_formulas(sheet: Sheet) -> None:
    [page] = pages(sheet, None)
    assert page.head
    if all(column.kind != "fitted" for column in sheet.columns):
        assert len(page.body) == len(sheet.rows)


@given(st.lists(st.tuples(LABELS, FORMULAS, NUMBERS), min_size=1, max_size=6))
def test_formulas_wrap_to_a_page_where_they_are_piped(rows: list[tuple[str, str, str]]) -> None:
    columns = [Column("", "text"), Column("formula", "fitted"), Column("value")]
    [page] = pages(Sheet(columns=columns, rows=list(map(list, rows))), None)
    assert all(len(line) <= PAGE for line in (*page.head, *page.body))


@given(sheets_of_numbers())
def test_what_fits_is_one_table(sheet: Sheet) -> None:
    [piped] = pages(sheet, None)
    width = max(len(line) for line in (*piped.head, *piped.body))
    assert pages(sheet, width) == [piped]


@given(st.integers(10**20, 10**24 - 1).map("{:,}".format), HEADINGS, LABELS)
def test_a_number_too_wide_for_a_table_stands_whole_below_its_label(
    number: str, heading: str, label: str
) -> None:
    sheet = Sheet(columns=[Column("", "text"), Column(heading)], rows=[[label, number]])
    [page] = pages(sheet, 40)
    assert all(len(line) <= 40 for line in (*page.head, *page.body))
    assert sum(number in line.split() for line in page.body) == 1
    if not page.head:
        assert page.body[0] == f" {label}"


def test_columns_of_a_group_stay_together_or_are_named() -> None:
    """A column that has to stand in another table than its model says whose it is."""
    figures = ["1,000,000,000,000", "2,000,000,000,000"]
    sheet = Sheet(
        columns=[
            Column("", "text"),
            *(
                column
                for i, model in enumerate(("small", "large"), 1)
                for column in (
                    Column(model, group=i),
                    Column("TFLOPs", group=i, apart=f"{model} TFLOPs"),
                )
            ),
        ],
        rows=[["total", figures[0], "1.000", figures[1], "2.000"]],
    )
    assert [together("".join(page.head)).strip("─") for page in pages(sheet, 70)] == [
        "smallTFLOPslargeTFLOPs"
    ]
    assert [together("".join(page.head)).strip("─") for page in pages(sheet, 40)] == [
        "smallTFLOPs",
        "largeTFLOPs",
    ]
    heads = [" ".join(" ".join(page.head[:-1]).split()) for page in pages(sheet, 30)]
    assert heads == ["small", "small TFLOPs", "large", "large TFLOPs"]
