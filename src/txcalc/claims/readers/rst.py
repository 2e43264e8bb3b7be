"""The comments of a reStructuredText: ``.. txcalc: ...`` below the paragraph of the number."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from txcalc.claims.readers.comment import WORD, Comment, lines_of

_EXPLICIT = re.compile(r"\s*\.\.(?:\s+(?P<rest>.*))?$")
_CLAIM = re.compile(rf"\s*\.\.\s+{WORD}")
_DIRECTIVE = re.compile(
    r"(?:\|[^|]+\|\s+)?(?P<name>[\w.+-]+(?::[\w.+-]+)*)\s?::(?:\s+(?P<shown>.*))?$"
)
_LITERAL = {
    "code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "math", "raw",
    "prompt", "doctest", "testcode", "testoutput", "productionlist", "graphviz", "csv-table",
}  # fmt: skip
"""Directives whose content is no reStructuredText."""

_ADORNMENT = re.compile(r"\s*([!-/:-@\[-`{-~])\1+\s*$")
_FORMATTING = re.compile(r":[\w.+-]+:(?=`)|[*`|]")
_ENDS = re.compile(r"[\s.,;:!?)]+\Z")
_NO_GAP = "a comment of reStructuredText needs an empty line before it"


def comments(text: str) -> Iterator[Comment]:
    """Every comment of a reStructuredText that may be a claim, in order."""
    reader = _Reader(text)
    for start, line in lines_of(text):
        yield from reader.comments_before(start, line)
    yield from reader.comments_before(len(text), "")


class _Open(msgspec.Struct, frozen=True):
    """A comment whose next line may go on with it."""

    indent: int
    begun: Comment
    lines: list[str]

    def comment(self) -> Comment:
        """The comment with all its lines."""
        return msgspec.structs.replace(self.begun, body=" ".join(self.lines))


class _Reader:
    """Reads line by line; a comment goes on while its lines are indented."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._paragraph: list[str] = []
        self._in_paragraph = False
        self._open: _Open | None = None
        self._literal_below: int | None = None
        """Lines indented more than this are no text."""

        self._announced: int | None = None
        """The same for what follows a paragraph that ends with ``::``."""

    def comments_before(self, start: int, line: str) -> Iterator[Comment]:
        """The comment that ends before a line, or whatever is wrong with one in it."""
        indent = len(line) - len(line.lstrip())
        if self._open and line.strip() and indent > self._open.indent:
            self._open.lines.append(line)
            return
        if self._open:
            yield self._open.comment()
            self._open = None
        if not line.strip():
            self._end_paragraph()
        elif self._literal_below is None or indent <= self._literal_below:
            self._literal_below = None
            claim = _CLAIM.match(line)
            if claim and self._in_paragraph:
                yield Comment(source=self._text, start=start, word=claim["word"], fault=_NO_GAP)
            elif claim:
                self._begin(claim, start, line, indent)
            else:
                self._read(line, indent)

    def _begin(self, claim: re.Match[str], start: int, line: str, indent: int) -> None:
        seen = _FORMATTING.sub("", "\n".join(self._paragraph))
        begun = Comment(
            source=self._text, start=start, word=claim["word"], before=_ENDS.sub("", seen)
        )
        self._open = _Open(indent, begun, [line[claim.end() :]])
        self._paragraph = []

    def _end_paragraph(self) -> None:
        self._in_paragraph = False
        if self._announced is not None:
            self._literal_below, self._announced = self._announced, None

    def _read(self, line: str, indent: int) -> None:
        """A line of a paragraph, of a directive, or of a comment that is none of ours."""
        explicit = None if self._in_paragraph else _EXPLICIT.match(line)
        if explicit:
            directive = _DIRECTIVE.match(explicit["rest"] or "")
            self._paragraph = []
            if directive is None or directive["name"] in _LITERAL:
                self._literal_below = indent
                return
            line = directive["shown"] or ""
        if not self._in_paragraph:
            self._paragraph = []
        self._in_paragraph = bool(line)
        if not _ADORNMENT.match(line):
            self._paragraph.append(line)
        self._announced = indent if line.rstrip().endswith("::") else None
