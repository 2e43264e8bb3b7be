"""Claims of files and folders: YAML lists and Markdown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from txcalc.claims import markdown
from txcalc.claims.checking import check
from txcalc.claims.claim import Claim, Place, Verdict, unreadable
from txcalc.errors import DescriptionError, TxcalcError
from txcalc.sources import yaml
from txcalc.sources.files import read_bytes
from txcalc.validation import told

MAX_BYTES = 4_000_000
MARKDOWN = (".md", ".markdown")
YAML = (".yaml", ".yml")
_LISTS_CLAIMS = re.compile(rb"^claims:", re.MULTILINE)
_LINE = re.compile(r"^(?P<file>.*?):(?P<line>[0-9]+)(?::[0-9]+)?: (?P<message>.*)", re.DOTALL)


def verdicts(paths: Iterable[str]) -> Iterator[Verdict]:
    """The verdict on every claim of files, or of the files below folders, each file once.

    What cannot be read is a verdict too, so that all claims are checked.
    """
    seen: set[str] = set()
    for path in paths:
        found = False
        for file in _below(path) if os.path.isdir(path) else [path]:
            found = True
            if isinstance(file, Verdict):
                yield file
            elif (real := os.path.realpath(file)) not in seen:
                seen.add(real)
                yield from _of_file(file)
        if not found:
            yield unreadable(Place(path, 1), "no Markdown and no claims file in this folder")


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


def _below(folder: str) -> Iterator[str | Verdict]:
    """The Markdown and the claims files of a folder, without what is hidden or installed in it."""
    unread: list[OSError] = []
    for base, folders, names in os.walk(folder, onerror=unread.append):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n != "node_modules")
        for name in sorted(names):
            file = os.path.join(base, name)
            if _is_pipe(file):
                continue
            if _is(name, MARKDOWN) or (_is(name, YAML) and _lists_claims(file)):
                yield file
    for error in unread:
        yield unreadable(Place(str(error.filename), 1), f"cannot be read: {error.strerror}")


def _is_pipe(file: str) -> bool:
    """Whether reading would wait for somebody who writes."""
    return os.path.exists(file) and not os.path.isfile(file)


def _is(name: str, endings: tuple[str, ...]) -> bool:
    return name.lower().endswith(endings)


def _lists_claims(file: str) -> bool:
    """Whether a YAML file, sound or not, means to list claims."""
    try:
        return bool(_LISTS_CLAIMS.search(read_bytes(file, MAX_BYTES)))
    except DescriptionError:
        return False


def _of_file(file: str) -> Iterator[Verdict]:
    try:
        if _is(file, MARKDOWN):
            for claim, name, place in markdown.claims(read_text(file), file):
                yield (
                    unreadable(place, str(claim), name=name)
                    if isinstance(claim, TxcalcError)
                    else check(claim, place)
                )
        elif _is(file, YAML):
            yield from _of_yaml(file)
        else:
            read_bytes(file, MAX_BYTES)
            raise DescriptionError("neither Markdown (.md) nor YAML (.yaml)", where=file)
    except DescriptionError as error:
        yield _at_its_line(file, str(error))


def _at_its_line(file: str, message: str) -> Verdict:
    """A verdict on a file that cannot be read, at the line that the message tells."""
    line = _LINE.match(message)
    if line and line["file"] == file:
        return unreadable(Place(file, int(line["line"])), line["message"])
    return unreadable(Place(file, 1), message.removeprefix(f"{file}: "))


def _of_yaml(file: str) -> Iterator[Verdict]:
    text = read_text(file)
    tree = yaml.load(text, file)
    if not isinstance(tree, dict) or not isinstance(tree.get("claims"), list):
        raise DescriptionError("a mapping with a list of 'claims' is needed", where=file)
    unknown = [key for key in tree if key not in ("source", "claims")]
    if unknown:
        raise DescriptionError(f"unknown field {unknown[0]!r}", where=file)
    known: set[str] = set()
    places = yaml.places(text, "claims", "value")
    for i, (raw, where) in enumerate(zip(tree["claims"], places, strict=True)):
        place = Place(file, *where)
        try:
            claim = _claim(raw, tree.get("source", ""))
        except msgspec.ValidationError as error:
            field, problem = told(error, Claim)
            yield unreadable(
                place, f"{'.'.join(p for p in (f'claims[{i}]', field) if p)}: {problem}"
            )
            continue
        if claim.id in known:
            yield unreadable(place, f"the id {claim.id!r} stands twice", claim)
        else:
            yield check(claim, place)
        known.add(claim.id)


def _claim(raw: Any, source: Any) -> Claim:
    if isinstance(raw, dict):
        raw = {"source": source, **raw}
        for field in ("value", "should_be", "inputs"):
            if isinstance(raw.get(field), int | str) and not isinstance(raw[field], bool):
                raw[field] = str(raw[field]).strip()
    return msgspec.convert(raw, Claim)
