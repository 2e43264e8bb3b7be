"""The comments of MDX: ``{/* ... */}``, and those of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from txcalc.claims.readers.comment import NEVER_CLOSED, WORD, Comment
from txcalc.claims.readers.markdown import comments_opened_by

_COMMENT = re.compile(r"\{/\*(.*?)\*/\}", re.DOTALL)
_OPENING = re.compile(rf"(?:<!--|<\?\*)\s*{WORD}")
_OURS = re.compile(rf"\s*{WORD}")
_NEVER_CLOSED = re.compile(rf"\{{/\*\s*{WORD}")
_NOT_IN_MDX = ("code", "html_block")


def comments(text: str) -> Iterator[Comment]:
    """Every comment of an MDX text that may be a claim, in order.

    CommonMark reads ``<?* ... *?>``, which is as long, as invisible HTML.  MDX has no indented
    code, and between the lines of tags it has Markdown.
    """
    end = text.rfind("*/}") + len("*/}") if "*/}" in text else 0
    as_html = _COMMENT.sub(_as_html, text[:end]) + text[end:]
    yield from comments_opened_by(_OPENING, as_html, _NOT_IN_MDX)
    if opened := _NEVER_CLOSED.search(text, end):
        yield Comment(source=text, start=opened.start(), word=opened["word"], fault=NEVER_CLOSED)


def _as_html(comment: re.Match[str]) -> str:
    """One of ours as HTML of its length, another as blanks."""
    if not _OURS.match(comment[1]):
        return re.sub(r"[^\r\n]", " ", comment[0])
    return f"<?*{comment[1].replace('?>', '? ')}*?>"
