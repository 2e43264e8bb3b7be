"""The comments of a Markdown text: ``<!-- ... -->``, inline or in a block of HTML.

CommonMark decides what is code; a comment is found again in the source by its order.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from html import unescape
from typing import TYPE_CHECKING

from txcalc.claims.readers.comment import NEVER_CLOSED, WORD, Comment, PageError, line_starts

if TYPE_CHECKING:
    from markdown_it.token import Token

    from txcalc.claims.readers.commonmark import Parser

MAX_LINES = 50_000
MAX_PARAGRAPH = 100_000

_OPENING = re.compile(rf"<!--\s*{WORD}")
_FRONT_MATTER = (
    (re.compile(r"""\ufeff?---[ \t]*\r?\n[\w"'][^\n]*:"""),
     re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)),
    (re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n"),
     re.compile(r"^\+\+\+[ \t]*\r?$", re.MULTILINE)),
)  # fmt: skip
"""How YAML and TOML before a page begin, and the line that ends each."""

_MARKUP = re.compile(r"<!--|<\?\*|</?[A-Za-z][^<>]*>")
_CLOSINGS = {"<!--": "-->", "<?*": "*?>"}
_AS_IS = re.compile(r"<(?P<end>/?)(?P<name>pre|script|style|textarea)\b", re.IGNORECASE)
_TAG_NAME = re.compile(r"</?([A-Za-z0-9]+)")
_TAG_START = re.compile(r"</?[A-Za-z]")
_INLINE_TAGS = {
    "a", "abbr", "b", "bdi", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "mark", "s", "samp", "small", "span", "strong", "tt", "u", "var",
}  # fmt: skip


def comments(text: str) -> Iterator[Comment]:
    """Every comment of a Markdown text that may be a claim, in order.

    Raises:
        PageError: more lines than are parsed within a second.
    """
    return comments_opened_by(_OPENING, text)


def comments_opened_by(
    opening: re.Pattern[str], text: str, without: tuple[str, ...] = ()
) -> Iterator[Comment]:
    """The same for comments with another opening that is HTML, and without kinds of blocks."""
    openings = list(opening.finditer(text))
    if not openings:
        return
    lines = line_starts(text)
    if len(lines) > MAX_LINES:
        raise PageError(f"a page of {len(lines):,} lines; at most {MAX_LINES:,}: split it")
    from txcalc.claims.readers.commonmark import parser

    finder = _Finder(text, lines, openings, parser(without))
    yield from finder.comments(opening)


def _without_front_matter(text: str) -> str:
    """The text with blanks for its front matter."""
    for first, last in _FRONT_MATTER:
        opened = first.match(text)
        closed = opened and last.search(text, text.find("\n", opened.end() - 1) + 1)
        if closed:
            return re.sub(r"[^\n]", " ", text[: closed.end()]) + text[closed.end() :]
    return text


class _Finder:
    """Walks over the blocks of a text and over its openings of comments side by side."""

    def __init__(
        self, text: str, lines: list[int], openings: list[re.Match[str]], parser: Parser
    ) -> None:
        self._text = text
        self._lines = lines
        self._left = deque(openings)
        self._parser = parser

    def comments(self, opening: re.Pattern[str]) -> Iterator[Comment]:
        """Those that are neither code nor part of another comment."""
        for token in self._parser.where(opening, _without_front_matter(self._text)):
            start, end = map(self._start_of, token.map or (0, 0))
            self._skip(start)
            if token.type == "inline" and len(token.content) > MAX_PARAGRAPH:
                yield from self._too_long(len(token.content), end)
            elif token.type == "inline":
                yield from self._in_paragraph(self._parser.inside(token), opening, start, end)
            else:
                yield from self._in_html(start, end)

    def _too_long(self, length: int, end: int) -> Iterator[Comment]:
        """One of a paragraph that would take seconds to parse."""
        fault = f"it stands in a paragraph of {length:,} characters; at most {MAX_PARAGRAPH:,}"
        if opening := self._next("", end):
            yield self._comment(opening, fault=fault)

    def _in_paragraph(
        self, inside: list[Token], pattern: re.Pattern[str], start: int, end: int
    ) -> Iterator[Comment]:
        before: list[str] = []
        for token in inside:
            match token.type:
                case "text" | "text_special":
                    before.append(token.content)
                case "code_inline":
                    before.append(re.sub("[<>]", " ", token.content))
                    for _ in pattern.finditer(token.content):
                        self._next("", end)
                case "html_inline":
                    opening = pattern.match(token.content)
                    place = opening and self._next(token.content.partition("\n")[0], end)
                    if opening and place:
                        body = token.content[opening.end() : -3]
                        yield self._comment(place, body, "".join(before))
                    _see(before, token.content)
                case "softbreak" | "hardbreak":
                    before.append("\n")
                case "image":
                    before.clear()
                case _:
                    pass
        if any(token.type == "text" and pattern.search(token.content) for token in inside):
            yield from self._never_closed(start, end)

    def _never_closed(self, start: int, end: int) -> Iterator[Comment]:
        """The first of a block that ends nowhere in it; a text that shows a comment has none."""
        close = self._text.rfind("-->", start, end)
        for match in self._left:
            if match.start() >= end:
                return
            if close < match.end() and self._text[match.start() - 1 : match.start()] != "\\":
                yield self._comment(match, fault=NEVER_CLOSED)
                return

    def _in_html(self, start: int, end: int) -> Iterator[Comment]:
        """Those of a block of HTML, without what is in another comment, a tag or a script."""
        before: list[str] = []
        within, position = "", start
        while markup := _MARKUP.search(self._text, position, end):
            before.append(self._text[position : markup.start()])
            position = markup.end()
            closing = _CLOSINGS.get(markup[0])
            if closing is None:
                within = _element(within, markup[0])
                _see(before, markup[0])
                continue
            opening = self._opening_at(markup.start())
            close = self._text.find(closing, opening.end() if opening else position, end)
            if opening and not within and not _ends_in_tag("".join(before)):
                body = self._text[opening.end() : close] if close >= 0 else ""
                seen = unescape("".join(before))
                yield self._comment(opening, body, seen, NEVER_CLOSED if close < 0 else "")
            if close < 0:
                return
            before.clear()
            position = close + 3

    def _skip(self, position: int) -> None:
        """Leaves out the openings before a position."""
        while self._left and self._left[0].start() < position:
            self._left.popleft()

    def _opening_at(self, position: int) -> re.Match[str] | None:
        self._skip(position)
        here = bool(self._left) and self._left[0].start() == position
        return self._left.popleft() if here else None

    def _next(self, start: str, end: int) -> re.Match[str] | None:
        """The next opening before ``end`` whose source goes on like this."""
        while self._left and self._left[0].start() < end:
            match = self._left.popleft()
            if self._text.startswith(start, match.start()):
                return match
        return None

    def _comment(
        self, opening: re.Match[str], body: str = "", before: str = "", fault: str = ""
    ) -> Comment:
        return Comment(
            source=self._text, start=opening.start(), word=opening["word"], body=body,
            before=before, fault=fault,
        )  # fmt: skip

    def _start_of(self, line: int) -> int:
        return self._lines[line] if line < len(self._lines) else len(self._text)


def _see(before: list[str], tag: str) -> None:
    """Changes what is seen before the next text, by a tag or a comment."""
    name = _TAG_NAME.match(tag)
    known = name[1].lower() if name else ""
    if known == "br":
        before.append("\n")
    elif known in ("sub", "sup"):
        before.append("" if tag.startswith("</") else "^")
    elif known not in _INLINE_TAGS:
        before.clear()


def _ends_in_tag(text: str) -> bool:
    """Whether a tag is open at the end of a text."""
    return bool(_TAG_START.search(text, text.rfind(">") + 1))


def _element(within: str, tag: str) -> str:
    """The element whose content is shown as it is, if there is one after a tag."""
    element = _AS_IS.match(tag)
    if element is None or (within and element["name"].lower() != within):
        return within
    return "" if element["end"] else element["name"].lower()
