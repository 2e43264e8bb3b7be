"""CommonMark with tables: the paragraphs and the blocks of HTML where a pattern occurs."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

MAX_NESTING = 100
MAX_INLINE_NESTING = 5
"""Of links and images in each other; each level searches once more for the end of a bracket."""


@lru_cache
def parser(without: tuple[str, ...] = ()) -> Parser:
    """The parser of Markdown, or of a dialect without some kinds of blocks."""
    return Parser(without)


class Parser:
    """Parses blocks first, and what is inside one only where it is asked for."""

    def __init__(self, without: tuple[str, ...] = ()) -> None:
        self.blocks, self.inline = (
            MarkdownIt("commonmark", {"maxNesting": nesting}).enable(["table", "strikethrough"])
            for nesting in (MAX_NESTING, MAX_INLINE_NESTING)
        )
        self.blocks.disable(without)
        self._env: dict[str, Any] = {}

    def where(self, pattern: re.Pattern[str], text: str) -> list[Token]:
        """The paragraphs, cells and blocks of HTML that match, with the lines that they are of."""
        text = re.sub(r"\r\n?", "\n", text).replace("\0", "\ufffd")
        self._env = {}
        state = _State(text, self.blocks, self._env, [])
        state.pattern = pattern
        self.blocks.block.tokenize(state, 0, state.lineMax)
        return [token for token in state.tokens if _matches(token, pattern)]

    def inside(self, token: Token) -> list[Token]:
        """What a paragraph or a cell is made of."""
        tokens: list[Token] = []
        self.inline.inline.parse(token.content, self.inline, self._env, tokens)
        return tokens


class _State(StateBlock):
    """Drops tokens that do not match, so that a page costs little memory."""

    pattern: re.Pattern[str]

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        if self.tokens and not _matches(self.tokens[-1], self.pattern):
            self.tokens.pop()
        return super().push(ttype, tag, nesting)


def _matches(token: Token, pattern: re.Pattern[str]) -> bool:
    return token.type in ("inline", "html_block") and bool(pattern.search(token.content))
