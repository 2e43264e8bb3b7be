"""Claims of pages: the comment right after a number states what the number is.

``124,439,808<!-- txcalc: gpt2-small params.total -->``; options stand in it as ``ctx=2048``, a
``>``, ``<`` or ``≈`` before the number is the relation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from txcalc.claims.claim import Claim, Place, Relation
from txcalc.claims.number import number_before
from txcalc.claims.readers.comment import Comment, line_starts
from txcalc.errors import OptionError, TxcalcError

MAX_COMMENT = 4000
_OPTION = re.compile(r"(?P<name>[a-z_-]+)=(?P<value>\S+)")
_BOUNDS: dict[str, Relation] = {">": "over", "<": "under", r"\gt": "over", r"\lt": "under"}
_ABOUT = ("≈", "∼", "~", "about", "ca", "ca.", "約", "约", r"\approx", r"\sim", r"\simeq")
_ADDRESS = re.compile(r"(?:^|\s)\(*[a-z]+\.[a-z]")

Found = tuple[Claim | TxcalcError, str, Place]


def claims(comments: Iterable[Comment], text: str, file: str) -> Iterator[Found]:
    """Every claim among the comments of a page, or what is wrong with it; its id and its place."""
    starts = line_starts(text)
    line = at = 0
    for comment in comments:
        if _is_prose(comment):
            continue
        line_before, line = line, bisect_right(starts, comment.in_file(comment.start))
        at = at + 1 if line == line_before else 0
        name = f"line {line}, {at + 1}" if at else f"line {line}"
        place = Place(file, line)
        try:
            if comment.word != "txcalc:":
                raise OptionError(f"a claim begins with 'txcalc:', not {comment.word!r}")
            if comment.fault:
                raise OptionError(comment.fault)
            number = number_before(comment)
            place = Place(file, line, comment.in_file(number.start), comment.in_file(number.end))
            yield _claim(comment.body, number.text, number.sign, name), name, place
        except TxcalcError as error:
            yield error, name, place


def _is_prose(comment: Comment) -> bool:
    """Whether a comment without the colon speaks of txcalc rather than to it."""
    return comment.word[-1] not in ":：" and not _ADDRESS.search(comment.body)


def _claim(comment: str, number: str, sign: str, name: str) -> Claim:
    """The claim that a comment makes of a number."""
    if len(comment) > MAX_COMMENT:
        raise OptionError(f"a comment of {len(comment):,} characters; at most {MAX_COMMENT:,}")
    options, rest = options_among(comment.split())
    model, *claim = rest or [""]
    if not claim:
        raise OptionError("a model and an address are needed, as gpt2-small params.total")
    tolerance = str(options.pop("within", ""))
    return Claim(
        id=name,
        model=model,
        claim=" ".join(claim),
        value=number,
        options=options,
        relation=_relation(sign, tolerance),
        tolerance=tolerance,
        because=f"the text says {sign}" if tolerance else "",
    )


def options_among(words: Iterable[str]) -> tuple[dict[str, object], list[str]]:
    """The options among some words, and the other words.

    Raises:
        OptionError: an option with '--', or one that is given twice.
    """
    options: dict[str, object] = {}
    changes: list[str] = []
    rest = []
    for word in words:
        match = _OPTION.fullmatch(word)
        if word.startswith("--"):
            raise OptionError(f"{word!r}: options are written as ctx=2048, without '--'")
        if match is None:
            rest.append(word)
        elif match["name"] == "set":
            changes.append(match["value"])
        elif match["name"] in options:
            raise OptionError(f"the option {match['name']!r} is given twice")
        else:
            options[match["name"]] = match["value"]
    return options | ({"set": changes} if changes else {}), rest


def _relation(sign: str, tolerance: str) -> Relation:
    """What a sign before a number says; a number that is about something rounds to it."""
    if sign in _BOUNDS:
        if tolerance:
            raise OptionError(f"{sign!r} before the number and within={tolerance}: one of them")
        return _BOUNDS[sign]
    if sign and sign.lower() not in _ABOUT:
        raise OptionError(f"{sign!r} before the number is not read; write '>', '<' or '≈'")
    if tolerance and not sign:
        raise OptionError(f"within={tolerance} needs ≈ or 'about' before the number")
    return "within" if tolerance else "rounds"
