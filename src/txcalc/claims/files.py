"""Claims of files and folders: YAML lists and Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from txcalc.claims import markdown
from txcalc.claims.claim import Claim, Place, Verdict, check
from txcalc.errors import DescriptionError, TxcalcError, UnknownModelError
from txcalc.sources import strict_yaml
from txcalc.sources.files import read_bytes

MAX_BYTES = 4_000_000
MARKDOWN = (".md", ".markdown")
YAML = (".yaml", ".yml")


def verdicts(path: str) -> Iterator[Verdict]:
    """The verdict on every claim of a file, or of the files below a folder.

    What cannot be read is a verdict too, so that all claims are checked.
    """
    for file in _files(path):
        yield from _of_file(file, asked=file == path)


def is_claims_file(path: str) -> bool:
    """Whether a YAML file lists claims."""
    try:
        tree = strict_yaml.read(path)
    except TxcalcError:
        return False
    return isinstance(tree, dict) and "claims" in tree


def read_text(path: str) -> str:
    """A file's text.

    Raises:
        DescriptionError: a file that is missing, too long or not UTF-8.
    """
    raw = read_bytes(path, MAX_BYTES)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DescriptionError(
            "not UTF-8: save the file as UTF-8", where=f"{path}:{line}"
        ) from None


def _files(path: str) -> list[str]:
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise UnknownModelError(f"no file or folder {path!r}")
        return [path]
    found = sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(path)
        for name in names
        if name.endswith((*MARKDOWN, *YAML))
    )
    return [file for file in found if file.endswith(MARKDOWN) or is_claims_file(file)]


def _of_file(file: str, *, asked: bool) -> Iterator[Verdict]:
    try:
        if file.endswith(MARKDOWN):
            for claim, place in markdown.claims(read_text(file), file):
                yield (
                    _unreadable(place, str(claim))
                    if isinstance(claim, TxcalcError)
                    else check(claim, place)
                )
        elif file.endswith(YAML):
            yield from _of_yaml(file)
        elif asked:
            raise DescriptionError("neither Markdown nor YAML", where=file)
    except DescriptionError as error:
        yield _unreadable(Place(file, 1), str(error))


def _of_yaml(file: str) -> Iterator[Verdict]:
    text = read_text(file)
    tree = strict_yaml.load(text, file)
    if not isinstance(tree, dict) or not isinstance(tree.get("claims"), list):
        raise DescriptionError("a mapping with a list of 'claims' is needed", where=file)
    unknown = [key for key in tree if key not in ("source", "claims")]
    if unknown:
        raise DescriptionError(f"unknown field {unknown[0]!r}", where=file)
    spans = strict_yaml.spans(text, "value")
    for i, raw in enumerate(tree["claims"]):
        line, start, end = spans[i] if len(spans) == len(tree["claims"]) else (1, 0, 0)
        place = Place(file, line, start, end)
        try:
            yield check(_claim(raw, tree.get("source", "")), place)
        except msgspec.ValidationError as error:
            yield _unreadable(place, f"claims[{i}]: {error}")


def _claim(raw: Any, source: str) -> Claim:
    if isinstance(raw, dict):
        raw = {"source": source, **raw}
        for field in ("value", "should_be", "tolerance"):
            if isinstance(raw.get(field), int):
                raw[field] = str(raw[field])
    return msgspec.convert(raw, Claim)


def _unreadable(place: Place, message: str) -> Verdict:
    nothing = Claim(id=f"line {place.line}", model="", claim="", value="")
    return Verdict(claim=nothing, place=place, problem=message, unreadable=True)
