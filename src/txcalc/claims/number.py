"""The number before a comment: as its text shows it, and where it stands in the source."""

from __future__ import annotations

import re

import msgspec

from txcalc.claims.readers.comment import Comment
from txcalc.claims.units import NAMES
from txcalc.claims.written import NUMBER, WrittenError, no_number
from txcalc.errors import nearest

_REACH = 400
"""Characters before a comment that are searched for its number."""
_SOURCE_REACH = 4000
"""The same in the source, where a link's address may stand between them."""

_AT_END = re.compile(
    r"(?<![0-9A-Za-z_.,/^'’])(?<![0-9]\{,\})(?<![0-9]\\,)"
    rf"(?P<number>{NUMBER})(?P<word> ?[A-Za-z/]+)?\s?$"
)
_PARTED = re.compile(r"(?<=[0-9}])\$(?=(?:\s|~|\\[, ])?[A-Za-z%]+\s?$)")
"""The end of maths between a number and its unit."""

_MATHS = re.compile(r"(?:\$\$?|\\\)|\\\])\s?$")
_BEGUN_MATHS = re.compile(r"(?:\$\$?|\\\(|\\\[)\s?$")
_SIGN = re.compile(
    r"(?P<sign>[-—–=~|!<>]*[<>]=?|!=|[≥≤≠⩾⩽≳≲≫≪≯≮≈∼~]|\babout|\bca\.?|約|约"
    r"|\\(?:approx|sim|simeq|gt|lt|geq?|leq?|neq?|gg|ll|gtrsim|lesssim))\s?$",
    re.IGNORECASE,
)
_ARROW = re.compile(r"[-—–=~|]+>")
_TOKEN = re.compile(r"(?P<text>[^\s|]*[0-9][^\s|]*)\s?$")
_JOINED = re.compile(r"[0-9A-Za-z)\]][-+−–]$|±\s?$")
_EARLIER = re.compile(
    r"(?<![0-9A-Za-z_.,-])(?P<number>[0-9](?:[\w.,%]*[\w%])?)\s?(?:[-–—−±~/x×]|to|or|\\[a-z]+)?\s?$"
)
_MARKUP = re.compile(
    r"(?:[*_~`$}|\s.,;:!?]|\\[)\]\\]|\\hline|%(?=\r?\n)|</?[A-Za-z][^<>]*>"
    r"|(?<=\n)(?P<title>[^\w\s])(?P=title)+(?=\r?\n)|\]\((?:[^()]|\([^()]*\))*+\)|\]\[[^\]]*\])*+"
)
"""What may stand in the source between a number and its comment."""

_LISTED_BOUND = re.compile(r"^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+>[ \t]?[*_~`]*\Z", re.MULTILINE)
"""A bound that begins the item of a list, where CommonMark would have a quotation."""

_NONE = "no number stands right before the comment"


class Number(msgspec.Struct, frozen=True):
    """The number before a comment, the sign before it, and its span in the comment's source.

    The span is empty where markup stands inside of the number.
    """

    text: str
    sign: str
    start: int
    end: int


def number_before(comment: Comment) -> Number:
    """The number that a comment is about.

    Raises:
        WrittenError: no number right before the comment, or two that it could be.
    """
    shown, sign = _shown(comment.before)
    start, end = _span(comment.source, comment.start, shown)
    if _LISTED_BOUND.search(comment.source, max(0, start - _REACH), start):
        sign = ">"
    return Number(comment.source[start:end] or shown, sign, start, end)


def _shown(before: str) -> tuple[str, str]:
    """The number that ends a text, and the sign before it."""
    is_cut = len(before) > _REACH
    before = _PARTED.sub("", _MATHS.sub("", before[-_REACH:]))
    number = _AT_END.search(before)
    token = _TOKEN.search(before)
    if number is None or (is_cut and number.start() == 0):
        raise WrittenError(no_number(token["text"]) if token else _NONE)
    if word := (number["word"] or "").strip():
        raise WrittenError(f"{_NONE}: {word!r} is no unit{nearest(word, NAMES)}")
    lead = _BEGUN_MATHS.sub("", before[: number.start()])
    sign = _SIGN.search(lead)
    if sign and not _ARROW.fullmatch(sign["sign"]):
        return number["number"], sign["sign"]
    lead = lead.rpartition("\n")[2]
    if earlier := _EARLIER.search(lead):
        both = f"{earlier['number']} and {number['number']}"
        raise WrittenError(f"two numbers it could mean: {both}")
    if token and _JOINED.search(lead):
        raise WrittenError(no_number(token["text"]))
    return number["number"], ""


def _span(source: str, opening: int, number: str) -> tuple[int, int]:
    """Where the number before a comment stands in the source, or nowhere."""
    escaped = re.sub(r"(?<!\{)[,%]", r"\\\g<0>", number)
    for text in dict.fromkeys((number, escaped, number.replace(" ", "~"))):
        end = opening
        while (at := source.rfind(text, max(0, opening - _SOURCE_REACH), end)) >= 0:
            if _MARKUP.fullmatch(source, at + len(text), opening):
                return at, at + len(text)
            end = at + len(text) - 1
    return 0, 0
