"""The comments of a Markdown text that are claims, and what a reader sees before them.

CommonMark with tables decides what is code; a comment is found again in the source by its order.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from html import unescape
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from markdown_it.token import Token

_OPENING = re.compile(r"<!--\s*(?P<word>txcalc(?:\s*[:：]|(?=\s)))", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(
    r"""\A\ufeff?
    (?: ---[ \t]*\r?\n[\w"'][^\n]*:.*?^(?:---|\.\.\.)  # YAML
    | \+\+\+[ \t]*\r?\n.*?^\+\+\+ )                    # TOML
    [ \t]*\r?$""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_AS_IS = re.compile(r"<(?P<end>/?)(?P<name>pre|script|style|textarea)\b", re.IGNORECASE)
_IN_TAG = re.compile(r"</?[A-Za-z][^>]*$")
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"(<!--.*?-->|</?[A-Za-z][^<>]*>)", re.DOTALL)
_TAG_NAME = re.compile(r"</?([A-Za-z0-9]+)")
_INLINE_TAGS = {
    "a", "abbr", "b", "bdi", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "mark", "s", "samp", "small", "span", "strong", "tt", "u", "var",
}  # fmt: skip
_NO_SIGN = re.compile("[<>]")
MAX_NESTING = 100


class Comment(msgspec.Struct, frozen=True):
    """Where a comment stands, the word it opens with, what it says if it ends, and what it follows.

    ``before`` is the text of the block before it as a reader sees it, back to the last comment.
    """

    start: int
    line: int
    word: str
    body: str | None
    before: str


def comments(text: str) -> Iterator[Comment]:
    """Every comment of a Markdown text that means to be a claim, in order."""
    openings = list(_OPENING.finditer(text))
    if not openings:
        return
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    yield from _Finder(text, openings).found(parser.parse(_FRONT_MATTER.sub(_blank, text)))


class _Finder:
    """Walks over the tokens of a text and over its openings of comments side by side."""

    def __init__(self, text: str, openings: list[re.Match[str]]) -> None:
        self._text = text
        self._lines = [0, *(end.end() for end in _LINE_END.finditer(text))]
        self._left = deque(openings)

    def found(self, tokens: list[Token]) -> Iterator[Comment]:
        """The claims among all comments."""
        for token in tokens:
            if token.map is None or token.type not in ("inline", "html_block"):
                continue
            start, end = map(self._start_of, token.map)
            while self._left and self._left[0].start() < start:
                self._left.popleft()
            if not self._left or self._left[0].start() >= end:
                continue
            if token.type == "inline":
                yield from self._in_paragraph(token.children or [], end)
            else:
                yield from self._in_html(start, end)

    def _in_paragraph(self, children: list[Token], end: int) -> Iterator[Comment]:
        before = ""
        for child in children:
            match child.type:
                case "text":
                    before += child.content
                case "code_inline":
                    before += _NO_SIGN.sub(" ", child.content)
                    for _ in _OPENING.finditer(child.content):
                        self._next("", end)
                case "html_inline":
                    opening = _OPENING.match(child.content)
                    place = opening and self._next(child.content.partition("\n")[0], end)
                    if opening and place:
                        yield self._comment(place, child.content[opening.end() : -3], before)
                    before = _after(before, child.content)
                case "softbreak" | "hardbreak":
                    before += "\n"
                case "image":
                    before = ""
                case _:
                    pass
        if any(child.type == "text" and _OPENING.search(child.content) for child in children):
            yield from self._never_closed(end)

    def _never_closed(self, end: int) -> Iterator[Comment]:
        """The first of a block that ends nowhere in it; a text that shows a comment has none."""
        close = self._text.rfind("-->", 0, end)
        for match in self._left:
            if match.start() >= end:
                return
            if close < match.end() and self._text[match.start() - 1 : match.start()] != "\\":
                yield self._comment(match, None, "")
                return

    def _in_html(self, start: int, end: int) -> Iterator[Comment]:
        """Those of a block of HTML, without what is in another comment, a tag or a script."""
        before, within = "", ""
        while self._left and self._left[0].start() < end:
            match = self._left.popleft()
            if match.start() < start:
                continue
            is_commented = False
            for piece in _TAG.split(self._text[start : match.start()]):
                within = _element(within, piece)
                is_commented = is_commented or "<!--" in _COMMENT.sub("", piece)
                before = _after(before, piece) if _TAG.fullmatch(piece) else before + piece
            close = self._text.find("-->", match.end())
            if not (within or is_commented or _IN_TAG.search(before, max(0, len(before) - 4000))):
                body = None if close < 0 else self._text[match.end() : close]
                yield self._comment(match, body, unescape(before))
            if close < 0:
                return
            before, start = "", close + 3

    def _next(self, start: str, end: int) -> re.Match[str] | None:
        """The next opening before ``end`` whose source goes on like this."""
        while self._left and self._left[0].start() < end:
            match = self._left.popleft()
            if self._text.startswith(start, match.start()):
                return match
        return None

    def _comment(self, match: re.Match[str], body: str | None, before: str) -> Comment:
        return Comment(match.start(), self._line_of(match) + 1, match["word"], body, before)

    def _line_of(self, match: re.Match[str]) -> int:
        return bisect_right(self._lines, match.start()) - 1

    def _start_of(self, line: int) -> int:
        return self._lines[line] if line < len(self._lines) else len(self._text)


def _after(before: str, tag: str) -> str:
    """What is seen before the next text, after a tag or a comment."""
    name = _TAG_NAME.match(tag)
    if name and name[1].lower() == "br":
        return f"{before}\n"
    if name and name[1].lower() in ("sub", "sup"):
        return before if tag.startswith("</") else f"{before}^"
    return before if name and name[1].lower() in _INLINE_TAGS else ""


def _element(within: str, tag: str) -> str:
    """The element whose content is shown as it is, if there is one after a tag."""
    found = _AS_IS.match(tag)
    if found is None or (within and found["name"].lower() != within):
        return within
    return "" if found["end"] else found["name"].lower()


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
