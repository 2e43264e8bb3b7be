"""Claims files: YAML that lists the numbers of another document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from txcalc.claims.claim import Claim, Place
from txcalc.claims.commented import Found, options_among
from txcalc.claims.readers.comment import PageError
from txcalc.errors import DescriptionError, OptionError, TxcalcError
from txcalc.sources import yaml
from txcalc.validation import fault

MAX_CLAIMS = 10_000
_AT_LINE = re.compile(r"claims:(?P<line>[0-9]+)(?::[0-9]+)?: (?P<message>.*)", re.DOTALL)
_NUMBERS = ("value", "should_be", "inputs")
_DIGITS = 38
"""Plain integers with more of them are not read whole."""


def listed_claims(text: str, file: str) -> Iterator[Found]:
    """Every claim of a claims file, or what is wrong with it; its id and its place.

    Raises:
        PageError: a file that lists no claims.
    """
    tree = _tree(text)
    if len(tree["claims"]) > MAX_CLAIMS:
        raise PageError(f"more than {MAX_CLAIMS:,} claims: split the file")
    known: set[str] = set()
    places = yaml.places(text, "claims", "value")
    for i, (raw, where) in enumerate(zip(tree["claims"], places, strict=True)):
        place = Place(file, *where)
        try:
            claim = _claim(raw, tree.get("source", ""), i)
        except TxcalcError as error:
            yield error, "", place
            continue
        if claim.id in known:
            yield OptionError(f"the id {claim.id!r} stands twice"), claim.id, place
        else:
            yield claim, claim.id, place
        known.add(claim.id)


def _tree(text: str) -> dict[str, Any]:
    """A mapping with a list of claims, and at most their source."""
    try:
        tree = yaml.parse(text, "claims")
    except DescriptionError as error:
        where = _AT_LINE.match(str(error))
        line = int(where["line"]) if where else 1
        raise PageError(where["message"] if where else str(error), line) from None
    if not isinstance(tree, dict) or not isinstance(tree.get("claims"), list):
        raise PageError("a mapping with a list of 'claims' is needed")
    if unknown := [key for key in tree if key not in ("source", "claims")]:
        raise PageError(f"unknown field {unknown[0]!r}")
    return tree


def _claim(raw: Any, source: Any, i: int) -> Claim:
    """One claim of the list; its numbers may be plain, its options a line of text."""
    if isinstance(raw, dict):
        raw = {"source": source, **raw}
        if isinstance(raw.get("options"), str):
            raw["options"] = _options(raw["options"])
        for field in _NUMBERS:
            if isinstance(raw.get(field), int | str) and not isinstance(raw[field], bool):
                raw[field] = _as_text(raw[field], field)
    try:
        return msgspec.convert(raw, Claim)
    except msgspec.ValidationError as error:
        field, problem = fault(error, Claim)
        where = ".".join(part for part in (f"claims[{i}]", field) if part)
        raise OptionError(f"{where}: {problem}") from None


def _options(text: str) -> dict[str, object]:
    options, rest = options_among(text.split())
    if rest:
        raise OptionError(f"options: {rest[0]!r} is none; options are written as ctx=2048")
    return options


def _as_text(number: int | str, field: str) -> str:
    text = str(number).strip()
    if isinstance(number, int) and len(text.lstrip("-")) > _DIGITS:
        raise OptionError(f"{field}: an integer of more than {_DIGITS} digits is not read")
    return text
