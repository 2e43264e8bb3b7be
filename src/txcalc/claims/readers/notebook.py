"""The comments of a Jupyter notebook: those of its Markdown cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from txcalc.claims.readers import markdown
from txcalc.claims.readers.comment import Comment, PageError

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_CHARACTER = re.compile(rf"{_HIGH}{_LOW}|\\u[0-9a-fA-F]{{4}}|\\.|[^\\]")


class _Pairs(list[Any]):
    """The keys and the values of a JSON object, each pair as often as it stands there."""


def comments(text: str) -> Iterator[Comment]:
    """Every comment of a notebook's Markdown cells that may be a claim, in order.

    Raises:
        PageError: no JSON, or no notebook.
    """
    for source in _markdown_cells(text):
        if any("txcalc" in string[0].lower() for string in source):
            cell, offsets = _decoded(source)
            for comment in markdown.comments(cell):
                yield msgspec.structs.replace(comment, offsets=offsets)


def _markdown_cells(text: str) -> Iterator[list[re.Match[str]]]:
    """The strings of the source of each, as they stand in the file."""
    try:
        tree = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_Pairs, parse_int=float)
        tree = _located(tree, _STRING.finditer(text))
    except json.JSONDecodeError as error:
        raise PageError(f"bad JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise PageError("bad JSON: nested too deep") from None
    cells = tree.get("cells") if isinstance(tree, dict) else None
    if not isinstance(cells, list):
        raise PageError("no notebook: a list of 'cells' is needed")
    for cell in cells:
        if isinstance(cell, dict) and _is_markdown(cell.get("cell_type")):
            source = cell.get("source")
            strings = source if isinstance(source, list) else [source]
            yield [string for string in strings if isinstance(string, re.Match)]


def _is_markdown(cell_type: Any) -> bool:
    return isinstance(cell_type, re.Match) and cell_type[0] == '"markdown"'


def _located(node: Any, strings: Iterator[re.Match[str]]) -> Any:
    """A JSON tree with every string as the place where it stands; they come in the same order."""
    match node:
        case str():
            return next(strings)
        case _Pairs():
            values = {}
            for key, value in node:
                next(strings)  # that of the key
                values[key] = _located(value, strings)
            return values
        case list():
            return [_located(item, strings) for item in node]
        case _:
            return None


def _decoded(source: list[re.Match[str]]) -> tuple[str, list[int]]:
    """The text that strings hold, and where each of its characters stands in the file."""
    characters: list[str] = []
    offsets: list[int] = []
    for string in source:
        for character in _CHARACTER.finditer(string.string, string.start() + 1, string.end() - 1):
            escaped = character[0].startswith("\\")
            characters.append(json.loads(f'"{character[0]}"') if escaped else character[0])
            offsets.append(character.start())
    offsets.append(source[-1].end() - 1 if source else 0)
    return "".join(characters), offsets
