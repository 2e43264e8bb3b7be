"""Claims in Markdown: an invisible comment right after the number.

``124,439,808<!-- txcalc: gpt2-small params.total -->``; options stand in it as ``ctx=2048``, a
``>``, ``<`` or ``≈`` before the number is the relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from txcalc.claims.claim import Claim, Place, Relation
from txcalc.claims.code import without_code
from txcalc.claims.units import NAMES
from txcalc.claims.written import NUMBER, unreadable
from txcalc.errors import TxcalcError, nearest

MAX_COMMENT = 4000
_REACH = 200
"""Signs before a comment that are searched for its number."""

_OPENING = re.compile(r"<!--\s*(?P<word>txcalc(?:\s*[:：]|(?=\s)))", re.IGNORECASE)
_AT_END = re.compile(rf"(?<![0-9A-Za-z_.,/])(?P<number>{NUMBER})(?P<word> ?[A-Za-z/]+)?[*_`]*\s?$")
_SIGN = re.compile(r"(?P<sign>[<>≈~≥≤]|&[lg]t;|\babout|\bca\.?|約|约)\s?[*_`]*$")
_QUOTE = re.compile(r"[>\s]*")
_LIKE_ONE = re.compile(r"(?P<text>[0-9][^\s|]*[0-9]|[0-9])[*_`]*\s?$")
_EARLIER = re.compile(
    r"(?<![0-9A-Za-z_.,-])(?P<number>[0-9](?:[\w.,%]*[\w%])?)\s?(?:[-–—~/x×]|to|or)?\s?[*_`]*$"
)
_OPTION = re.compile(r"(?P<name>[a-z_-]+)=(?P<value>\S+)")
_RELATIONS: dict[str, Relation] = {">": "over", "<": "under", "&gt;": "over", "&lt;": "under"}
_NO_NUMBER = "no number stands right before the comment"


class MarkdownError(TxcalcError):
    """A comment that is no claim."""


Found = tuple[Claim | MarkdownError, Place]


class _Number(msgspec.Struct, frozen=True):
    """The number before a comment: its text, where it starts in it, and the sign before it."""

    text: str
    start: int
    sign: str


def claims(text: str, file: str) -> Iterator[Found]:
    """Every claim of a Markdown text, or what is wrong with it, and where it stands."""
    line = seen = 0
    for match, comment, at in _comments(without_code(text)):
        opening = match.start()
        line += text.count("\n", seen, opening)
        seen = opening
        place = Place(file, line + 1)
        try:
            if match["word"] != "txcalc:":
                raise MarkdownError(f"a claim begins with 'txcalc:', not {match['word']!r}")
            if comment is None:
                raise MarkdownError("the comment is never closed")
            before = text[max(0, opening - _REACH) : opening].rpartition("\n")[2]
            number = _number(before.rpartition("-->")[2])
            start = opening - len(before.rpartition("-->")[2]) + number.start
            place = Place(file, line + 1, start, start + len(number.text))
            claim = _claim(comment, number, f"line {line + 1}")
            yield msgspec.structs.replace(claim, id=_name(claim.id, at)), place
        except MarkdownError as error:
            yield error, place


def _comments(text: str) -> Iterator[tuple[re.Match[str], str | None, int]]:
    """How each comment opens, what it says if it ends, and how many of its line are before it."""
    at = on_line = 0
    while match := _OPENING.search(text, at):
        on_line = 0 if "\n" in text[at : match.start()] else on_line + 1
        if at == 0:
            on_line = 0
        end = text.find("-->", match.end())
        yield match, None if end < 0 else text[match.end() : end], on_line
        at = len(text) if end < 0 else end + 3


def _name(line: str, at: int) -> str:
    """The id of a claim: its line, and which of the line's it is."""
    return f"{line}, {at + 1}" if at else line


def _number(before: str) -> _Number:
    """The number that ends a piece of a line."""
    found = _AT_END.search(before)
    if found is None:
        like = _LIKE_ONE.search(before)
        raise MarkdownError(unreadable(like["text"]) if like else _NO_NUMBER)
    if word := (found["word"] or "").strip():
        raise MarkdownError(f"{_NO_NUMBER}: {word!r} is no unit{nearest(word, NAMES)}")
    lead = before[: found.start()]
    sign = _SIGN.search(lead)
    if sign and not _QUOTE.fullmatch(lead):
        return _Number(found["number"], found.start("number"), sign["sign"])
    earlier = _EARLIER.search(lead)
    if earlier:
        both = f"{earlier['number']} and {found['number']}"
        raise MarkdownError(f"two numbers it could mean: {both}")
    return _Number(found["number"], found.start("number"), "")


def _claim(comment: str, number: _Number, name: str) -> Claim:
    """The claim that a comment makes of a number."""
    if len(comment) > MAX_COMMENT:
        raise MarkdownError(f"a comment of {len(comment):,} signs; at most {MAX_COMMENT:,}")
    options, rest = _options(comment.split())
    model, *claim = rest or [""]
    if not claim:
        raise MarkdownError("a model and an address are needed, as gpt2-small params.total")
    tolerance = str(options.pop("within", ""))
    return Claim(
        id=name,
        model=model,
        claim=" ".join(claim),
        value=number.text,
        options=options,
        relation=_relation(number.sign, tolerance),
        tolerance=tolerance,
        because=f"the text says {number.sign}" if tolerance else "",
    )


def _options(words: list[str]) -> tuple[dict[str, object], list[str]]:
    """The options among the words of a comment, and the other words."""
    options: dict[str, object] = {}
    changes: list[str] = []
    rest = []
    for word in words:
        match = _OPTION.fullmatch(word)
        if word.startswith("--"):
            raise MarkdownError(f"{word!r}: options are written as ctx=2048, without '--'")
        if match is None:
            rest.append(word)
        elif match["name"] == "set":
            changes.append(match["value"])
        elif match["name"] in options:
            raise MarkdownError(f"the option {match['name']!r} is given twice")
        else:
            options[match["name"]] = match["value"]
    return options | ({"set": changes} if changes else {}), rest


def _relation(sign: str, tolerance: str) -> Relation:
    if sign in _RELATIONS:
        if tolerance:
            raise MarkdownError(f"{sign!r} before the number and within={tolerance}: one of them")
        return _RELATIONS[sign]
    if sign in ("≥", "≤"):
        raise MarkdownError(f"{sign!r} before the number is not read; write '>', '<' or '≈'")
    if sign and not tolerance:
        raise MarkdownError(f"{sign!r} before the number needs within=3% in the comment")
    if tolerance and not sign:
        raise MarkdownError(f"within={tolerance} needs ≈ or 'about' before the number")
    return "within" if tolerance else "rounds"
