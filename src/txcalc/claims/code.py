"""Markdown without its code: what stands in fences, in indented blocks or between backticks."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARKERS = r"(?:\s|>|[-*+]\s|[0-9]{1,9}[.)]\s)*"
_FENCE = re.compile(rf"^{_MARKERS}(?P<fence>`{{3,}}(?=[^`]*$)|~{{3,}})")
_ITEM = re.compile(r"^\s*(?:[-*+]|[0-9]{1,9}[.)])\s")
_INDENTED = re.compile(r"^(?: {4}| {0,3}\t)")
_TICKS = re.compile(r"`+")


def without_code(text: str) -> str:
    """The text with its code blanked out, position by position."""
    return "".join(map(_without_spans, _paragraphs(text)))


def _paragraphs(text: str) -> Iterator[str]:
    """The text in pieces that end at blank lines, with blocks of code blanked out."""
    lines: list[str] = []
    for line in _without_blocks(text):
        lines.append(line)
        if not line.strip():
            yield "".join(lines)
            lines = []
    yield "".join(lines)


def _without_blocks(text: str) -> Iterator[str]:
    """Lines, blank where they are code."""
    fence = ""
    in_list = in_code = False
    after_blank = True
    for line in re.split(r"(?<=\n)", text):
        mark = _FENCE.match(line.rstrip())
        if fence:
            yield _blank(line)
            if mark and mark["fence"].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark["fence"]
            yield _blank(line)
        else:
            is_blank = not line.strip()
            if _ITEM.match(line):
                in_list = True
            elif after_blank and not is_blank and not line[0].isspace():
                in_list = False
            starts = after_blank and not in_list
            in_code = bool(_INDENTED.match(line)) and not is_blank and (in_code or starts)
            after_blank = is_blank
            yield _blank(line) if in_code else line


def _without_spans(text: str) -> str:
    """A paragraph without what stands between backticks, as many before as after."""
    runs = list(_TICKS.finditer(text))
    closing: list[int | None] = []
    latest: dict[int, int] = {}
    for i in reversed(range(len(runs))):
        length = len(runs[i].group())
        closing.append(latest.get(length))
        latest[length] = i
    closing.reverse()
    pieces, done, i = [], 0, 0
    while i < len(runs):
        end = closing[i]
        escaped = text[runs[i].start() - 1 : runs[i].start()] == "\\"
        if end is None or escaped:
            i += 1
            continue
        pieces += [text[done : runs[i].start()], _blank(text[runs[i].start() : runs[end].end()])]
        done, i = runs[end].end(), end + 1
    return "".join([*pieces, text[done:]])


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
