"""YAML without surprises: plain integers, no duplicate keys, no anchors, one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

import yaml

from txcalc.errors import DescriptionError
from txcalc.sources.files import read_bytes

MAX_BYTES = 1_000_000
MAX_DEPTH = 32

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_DIGITS = 40
"""More of them change nothing: the number is out of any range."""
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_DIRECTIVE = re.compile("(?:^|[\r\x85\u2028\u2029\ufeff])%[A-Z]", re.MULTILINE)
"""At the start of any line that YAML knows: many of them would take their square in time."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Tree = dict[str, Any]


def parse(text: str, name: str) -> Any:
    """The mappings, lists and scalars of a YAML text.

    A plain scalar is an integer in plain decimals, true, false or null, else a string: ``010``,
    ``1:30``, ``1e5`` and ``no`` stay what they look like.

    Raises:
        DescriptionError: anything else, with ``name``, line and column.
    """
    if directive := _DIRECTIVE.search(text):
        line = text.count("\n", 0, directive.start()) + 1
        raise DescriptionError("directives are not used here", where=f"{name}:{line}")
    try:
        reader = _Reader(yaml.parse(text, Loader=_LOADER), name)
        return reader.document()
    except UnicodeEncodeError as error:
        message = f"half of a surrogate pair, or a byte that is not UTF-8, at {error.start}"
        raise DescriptionError(message, where=name) from None
    except yaml.MarkedYAMLError as error:
        where = _place(name, error.problem_mark)
        raise DescriptionError(f"bad YAML: {error.problem}", where=where) from None
    except yaml.YAMLError as error:
        raise DescriptionError(f"bad YAML: {' '.join(str(error).split())}", where=name) from None


def read(path: str) -> Any:
    """The same of a file, which may be a megabyte long.

    Raises:
        DescriptionError: a file that is missing, unreadable, too long or not UTF-8.
    """
    return decoded(read_bytes(path, MAX_BYTES), path)


def decoded(raw: bytes, name: str) -> Any:
    """The same of a file's bytes.

    Raises:
        DescriptionError: bytes that are not UTF-8, or too many.
    """
    if len(raw) > MAX_BYTES:
        raise DescriptionError(f"longer than {MAX_BYTES:,} bytes: no model file", where=name)
    try:
        return parse(raw.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        message = f"not UTF-8 at byte {error.start}: save the file as UTF-8"
        raise DescriptionError(message, where=name) from None


def places(text: str, list_: str, key: str) -> list[tuple[int, int, int]]:
    """Where the ``key`` of each item of a list stands in a text that :func:`parse` reads.

    Line, first character and the one after the last, quotes left out; of an item without it, its
    line alone.
    """
    root: Any = yaml.compose(text, Loader=_LOADER)
    items = next(value for name, value in root.value if name.value == list_)
    mark = len(text) - len(text.removeprefix("\ufeff"))
    spans = (_span(item, key) for item in items.value)
    return [(line, start + mark, end + mark) for line, start, end in spans]


def _span(item: Any, key: str) -> tuple[int, int, int]:
    pairs = item.value if isinstance(item, yaml.MappingNode) else []
    for name, value in pairs:
        if name.value == key and isinstance(value, yaml.ScalarNode):
            quotes = 1 if value.style in ("'", '"') else 0
            start, end = value.start_mark, value.end_mark
            return start.line + 1, start.index + quotes, end.index - quotes
    return item.start_mark.line + 1, 0, 0


def dump(tree: Tree) -> str:
    """A tree as YAML that reads back as the same tree."""
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=96)


class _Dumper(yaml.SafeDumper):
    """Writes every kind of whole number as its digits."""


_Dumper.add_multi_representer(int, lambda dumper, value: dumper.represent_int(int(value)))


class _Reader:
    """Builds a tree from parser events."""

    def __init__(self, events: Iterator[Any], name: str) -> None:
        self._events = events
        self._name = name

    def document(self) -> Any:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            raise DescriptionError("empty: a description was expected", where=self._name)
        tree = self._node(next(self._events), 0)
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._refuse(after, "a second document: one file describes one thing")
        return tree

    def _node(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            self._refuse(event, "anchors and aliases are not used here: share by name instead")
        if depth > MAX_DEPTH:
            self._refuse(event, f"nested more than {MAX_DEPTH} deep")
        if event.tag not in (None, "!"):
            self._refuse(event, f"the tag {event.tag!r} is not used here: write a plain value")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(depth)
        return _scalar(event.value) if event.implicit[0] else event.value

    def _mapping(self, depth: int) -> Tree:
        tree: Tree = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self._node(event, depth + 1)
                self._refuse(event, "a key has to be a plain word")
            key = event.value
            if self._node(event, depth) is None or key == "<<":
                self._refuse(event, f"{key!r} is no key")
            if key in tree:
                self._refuse(event, f"the key {key!r} stands twice")
            tree[key] = self._node(next(self._events), depth + 1)
        return tree

    def _sequence(self, depth: int) -> list[Any]:
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return items

    def _refuse(self, event: Any, message: str) -> NoReturn:
        raise DescriptionError(message, where=_place(self._name, event.start_mark))


def _scalar(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text[:_DIGITS])
    return _WORDS.get(text, text)


def _place(name: str, mark: Any) -> str:
    return f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
