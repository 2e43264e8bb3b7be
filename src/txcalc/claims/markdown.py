"""Claims in Markdown: an invisible comment right after the number.

``124,439,808<!-- txcalc: gpt2-small params.total -->``; options stand in it as ``ctx=2048``, a
``>``, ``<`` or ``≈`` before the number is the relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from txcalc.claims.claim import Claim, Place, Relation
from txcalc.claims.comments import Comment, comments
from txcalc.claims.units import NAMES
from txcalc.claims.written import NUMBER, not_a_number
from txcalc.errors import TxcalcError, nearest

MAX_COMMENT = 4000
_REACH = 200
"""Signs before a comment that are searched for its number."""
_SOURCE_REACH = 4000
"""The same in the source, where a link's address may stand between them."""

_AT_END = re.compile(
    rf"(?<![0-9A-Za-z_.,/^'’])(?P<number>{NUMBER})(?P<word> ?[A-Za-z/]+)?\s?$"
)  # fmt: skip
_SIGN = re.compile(
    r"(?P<sign>[-—–=~|!<>]*[<>]=?|!=|[≥≤≠⩾⩽≳≲≫≪≯≮≈∼~]|\babout|\bca\.?|約|约)\s?$", re.IGNORECASE
)
_ARROW = re.compile(r"[-—–=~|]+>")
_TOKEN = re.compile(r"(?P<text>[^\s|]*[0-9][^\s|]*)\s?$")
_JOINED = re.compile(r"[0-9A-Za-z)\]][-+−–]$|±\s?$")
_EARLIER = re.compile(
    r"(?<![0-9A-Za-z_.,-])(?P<number>[0-9](?:[\w.,%]*[\w%])?)\s?(?:[-–—−±~/x×]|to|or)?\s?$"
)
_MARKUP = re.compile(r"(?:[*_~`\s]|</?[A-Za-z][^<>]*>|\]\((?:[^()]|\([^()]*\))*\)|\]\[[^\]]*\])*")
"""What may stand in the source between a number and its comment."""

_LISTED_BOUND = re.compile(r"^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+>[ \t]?[*_~`]*\Z", re.MULTILINE)
"""A bound that begins the item of a list, where CommonMark would have a quotation."""

_OPTION = re.compile(r"(?P<name>[a-z_-]+)=(?P<value>\S+)")
_RELATIONS: dict[str, Relation] = {">": "over", "<": "under"}
_ABOUT = ("≈", "∼", "~", "about", "ca", "ca.", "約", "约")
_NO_NUMBER = "no number stands right before the comment"
_ADDRESS = re.compile(r"(?:^|\s)\(*[a-z]+\.[a-z]")


class MarkdownError(TxcalcError):
    """A comment that is no claim."""


Found = tuple[Claim | MarkdownError, str, Place]


class _Number(msgspec.Struct, frozen=True):
    """The number before a comment, and the sign before it."""

    text: str
    sign: str


def claims(text: str, file: str) -> Iterator[Found]:
    """Every claim of a Markdown text, or what is wrong with it; its id, and where it stands."""
    line = at = 0
    for comment in comments(text):
        if _is_prose(comment):
            continue
        at = at + 1 if comment.line == line else 0
        line = comment.line
        name = f"line {line}, {at + 1}" if at else f"line {line}"
        place = Place(file, line)
        try:
            if comment.word != "txcalc:":
                raise MarkdownError(f"a claim begins with 'txcalc:', not {comment.word!r}")
            if comment.body is None:
                raise MarkdownError("the comment is never closed")
            number = _number(comment.before)
            start, end = _span(text, comment.start, number.text)
            place = Place(file, line, start, end)
            if _LISTED_BOUND.search(text, max(0, start - _REACH), start):
                number = _Number(number.text, ">")
            yield _claim(comment.body, number, name), name, place
        except MarkdownError as error:
            yield error, name, place


def _is_prose(comment: Comment) -> bool:
    """Whether a comment without the colon speaks of txcalc rather than to it."""
    return comment.word[-1] not in ":：" and not _ADDRESS.search(comment.body or "")


def _span(text: str, opening: int, number: str) -> tuple[int, int]:
    """Where the number before a comment stands in the source; nowhere if markup parts it."""
    end = opening
    while (at := text.rfind(number, max(0, opening - _SOURCE_REACH), end)) >= 0:
        if _MARKUP.fullmatch(text, at + len(number), opening):
            return at, at + len(number)
        end = at + len(number) - 1
    return 0, 0


def _number(before: str) -> _Number:
    """The number that ends a piece of a line."""
    before = before[-_REACH:]
    found = _AT_END.search(before)
    token = _TOKEN.search(before)
    if found is None:
        raise MarkdownError(not_a_number(token["text"]) if token else _NO_NUMBER)
    if word := (found["word"] or "").strip():
        raise MarkdownError(f"{_NO_NUMBER}: {word!r} is no unit{nearest(word, NAMES)}")
    lead = before[: found.start()]
    sign = _SIGN.search(lead)
    if sign and not _ARROW.fullmatch(sign["sign"]):
        return _Number(found["number"], sign["sign"])
    lead = lead.rpartition("\n")[2]
    earlier = _EARLIER.search(lead)
    if earlier:
        both = f"{earlier['number']} and {found['number']}"
        raise MarkdownError(f"two numbers it could mean: {both}")
    if token and _JOINED.search(lead):
        raise MarkdownError(not_a_number(token["text"]))
    return _Number(found["number"], "")


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
    if sign and sign.lower() not in _ABOUT:
        raise MarkdownError(f"{sign!r} before the number is not read; write '>', '<' or '≈'")
    if sign and not tolerance:
        raise MarkdownError(f"{sign!r} before the number needs within=3% in the comment")
    if tolerance and not sign:
        raise MarkdownError(f"within={tolerance} needs ≈ or 'about' before the number")
    return "within" if tolerance else "rounds"
