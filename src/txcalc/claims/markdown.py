"""Claims in Markdown: an invisible comment right after the number.

``124,439,808<!-- txcalc: gpt2-small params.total -->``; options stand in it as ``ctx=2048``, a
``>``, ``<`` or ``≈`` before the number is the relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from txcalc.claims.claim import Claim, Place, Relation
from txcalc.claims.written import NUMBER
from txcalc.errors import TxcalcError

MAX_COMMENT = 4000
COMMENT = re.compile(r"<!--\s*txcalc:(?P<text>.*?)-->", re.DOTALL)
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})")
_SPAN = re.compile(r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_AT_END = re.compile(rf"(?<![\w.,/])(?P<number>{NUMBER})[*_]*\s?$")
_SIGN = re.compile(r"(?P<sign>[<>≈~]|\babout|\bca\.?)\s?$")
_EARLIER = re.compile(r"(?P<number>\d(?:[\w.,%]*[\w%])?)\s?(?:[-–—~/x×]|to|or)?\s?$")
_OPTION = re.compile(r"(?P<name>[a-z_-]+)=(?P<value>\S+)")
_RELATIONS: dict[str, Relation] = {">": "over", "<": "under"}


class MarkdownError(TxcalcError):
    """A comment that is no claim."""


Found = tuple[Claim | MarkdownError, Place]


def claims(text: str, file: str) -> Iterator[Found]:
    """Every claim of a Markdown text, or what is wrong with it, and where it stands."""
    for match in COMMENT.finditer(_without_code(text)):
        line = text.count("\n", 0, match.start()) + 1
        before = text[max(0, match.start() - 200) : match.start()].rpartition("\n")[2]
        before = before.rpartition("-->")[2]
        place = Place(file, line)
        try:
            found = _AT_END.search(before)
            if found is None:
                raise MarkdownError("no number stands right before the comment")
            start = match.start() - len(before) + found.start("number")
            place = Place(file, line, start, start + len(found["number"]))
            lead = before[: found.start()]
            sign = _SIGN.search(lead)
            earlier = _EARLIER.search(lead)
            if earlier and not sign:
                both = f"{earlier['number']} and {found['number']}"
                raise MarkdownError(f"two numbers it could mean: {both}")
            yield _claim(match["text"], found["number"], sign["sign"] if sign else "", line), place
        except MarkdownError as error:
            yield error, place


def _claim(comment: str, number: str, sign: str, line: int) -> Claim:
    """The claim that a comment makes of a number."""
    if len(comment) > MAX_COMMENT:
        raise MarkdownError(f"a comment of {len(comment):,} signs; at most {MAX_COMMENT:,}")
    words = comment.split()
    if any(word.startswith("--") for word in words):
        raise MarkdownError("options are written as ctx=2048, without '--'")
    options: dict[str, object] = {}
    changes: list[str] = []
    rest = []
    for word in words:
        match = _OPTION.fullmatch(word)
        if match is None:
            rest.append(word)
        elif match["name"] == "set":
            changes.append(match["value"])
        elif match["name"] in options:
            raise MarkdownError(f"the option {match['name']!r} is given twice")
        else:
            options[match["name"]] = match["value"]
    model, *claim = rest or [""]
    if not claim:
        raise MarkdownError("a model and an address are needed, as gpt2-small params.total")
    tolerance = str(options.pop("within", ""))
    relation: Relation = "within" if tolerance else _RELATIONS.get(sign.strip(), "rounds")
    if relation == "rounds" and sign and not tolerance:
        raise MarkdownError(f"{sign.strip()!r} before the number needs within=3% in the comment")
    return Claim(
        id=f"line {line}",
        model=model,
        claim=" ".join(claim),
        value=number,
        options=options | ({"set": changes} if changes else {}),
        relation=relation,
        tolerance=tolerance,
        because="the text says so" if tolerance else "",
    )


def _without_code(text: str) -> str:
    """The text with code blanked out, position by position."""
    lines, fence = [], ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark["fence"].startswith(fence) and not line.strip().strip(fence[0])
            lines.append(_blank(line))
            fence = "" if closes else fence
        elif mark:
            fence = mark["fence"]
            lines.append(_blank(line))
        else:
            lines.append(line)
    return _SPAN.sub(lambda span: _blank(span.group()), "".join(lines))


def _blank(text: str) -> str:
    return "".join(sign if sign == "\n" else " " for sign in text)
