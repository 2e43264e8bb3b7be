"""The links of a page: those to files of the repository, and to headings within them."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

_ELSEWHERE = re.compile(r"[a-z]+:")


def dead(page: Path) -> list[str]:
    """What is wrong with each link of a page that leads nowhere."""
    return [
        f"{page.name}: {target} {why}" for target in targets(page) if (why := _why(page, target))
    ]


def targets(page: Path) -> list[str]:
    """The targets of all links and pictures of a page that stay in the repository."""
    attributes = (
        str(child.attrGet("href") or child.attrGet("src") or "")
        for token in _tokens(page)
        for child in token.children or ()
    )
    return [target for target in attributes if target and not _ELSEWHERE.match(target)]


def _why(page: Path, target: str) -> str:
    path, _, anchor = target.partition("#")
    file = page.parent / path if path else page
    if not file.exists():
        return "is no file"
    return "is no heading" if anchor and anchor not in _anchors(file) else ""


@cache
def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    times: Counter[str] = Counter()
    known = set()
    for title in _headings(page):
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        known.add(f"{slug}-{times[slug]}" if times[slug] else slug)
        times[slug] += 1
    return known


def _headings(page: Path) -> Iterator[str]:
    for token, inside in pairwise(_tokens(page)):
        if token.type == "heading_open":
            yield "".join(child.content for child in inside.children or ())


def _tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
