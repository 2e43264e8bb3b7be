"""Where in a description the field stands that a name or a path means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from txcalc.errors import DescriptionError, OptionError, nearest
from txcalc.exact.quantity import Letter, walk
from txcalc.sources.decoding import LETTER_NAMES
from txcalc.sources.description import build, kinds_in
from txcalc.sources.pieces import KINDS

Path = tuple[str, ...]
TOWERS = "towers"

_FIELDS = {letter: field for field, letter in LETTER_NAMES.items()}


class Places:
    """The fields of a tree by name; ``stated`` is the tree before it was changed.

    A tree that is being changed may contradict itself for a while: what a model of it would define
    is then seen in the one that was stated.
    """

    def __init__(self, tree: Any, file: str, stated: Any = None) -> None:
        self.tree, self._file = tree, file
        self._stated = tree if stated is None else stated

    def of(self, name: str) -> list[Path]:
        """The paths that a name, or the end of a path, means.

        Raises:
            OptionError: no such field, or several that do not agree.
        """
        if "." in name:
            return [self._field(name)]
        paths = self._written(name) or self._defined(name)
        if not paths:
            is_stated = any(name in get(self.tree, path) for path in _mappings(self.tree))
            return (not is_stated and self._needed(name)) or [self._field(name)]
        values = {path: get(self.tree, path) for path in paths}
        if any(value != values[paths[0]] for value in values.values()):
            listed = ", ".join(f"{'.'.join(path)} = {value}" for path, value in values.items())
            raise OptionError(f"{name} has several values; name one path of {listed}")
        return paths

    @property
    def letters(self) -> Mapping[str, Letter]:
        """Every dimension by path, those that a model defines among them; none of a broken tree."""
        for tree in (self.tree, self._stated):
            try:
                return build(tree, self._file).dims
            except DescriptionError:
                continue
        return {}

    def behind(self, path: Path) -> set[Path]:
        """The fields that a dimension follows from where the tree leaves it out."""
        letter = None if is_size(get(self.tree, path)) else self.letters.get(".".join(path))
        nodes = () if letter is None else walk(letter)
        return {tuple(n.path.split(".")) for n in nodes if isinstance(n, Letter) and n.path}

    def _written(self, name: str) -> list[Path]:
        key = _FIELDS.get(name, name)
        return self._of_text([p for p, v in leaves(self.tree) if p[-1] == key and is_size(v)])

    def _of_text(self, paths: list[Path]) -> list[Path]:
        """Those of the text model where there are any: a tower's fields go by their paths."""
        return [path for path in paths if path[:1] != (TOWERS,)] or paths

    def _defined(self, name: str) -> list[Path]:
        """Where a dimension stands that the description leaves out and the model defines."""
        paths = [
            tuple(path.split("."))
            for path, letter in self.letters.items()
            if letter.name == name and get(self.tree, path.split(".")[:-1]) is not None
        ]
        return self._of_text(paths)

    def _needed(self, name: str) -> list[Path]:
        """Where a field is missing that parts of a kind need, or that one part alone can have."""
        holders = {
            path: kind
            for path, kind in kinds_in(self.tree).items()
            if name in kind.__struct_fields__ and name not in get(self.tree, path)
        }
        needing = [path for path, kind in holders.items() if name in _required(kind)]
        paths = needing or (list(holders) if len(holders) == 1 else [])
        return [(*path, name) for path in paths]

    def _kinds_with(self, name: str) -> str:
        """A hint where a part of another kind would have a field of this name."""
        having = dict.fromkeys(
            f"{path[-1]}.kind={tag}"
            for path in kinds_in(self.tree)
            for tag, kind in KINDS.get(path[-1], {}).items()
            if name in kind.__struct_fields__
        )
        return f"; parts of another kind have it: --set {' or '.join(having)}" if having else ""

    def _field(self, name: str) -> Path:
        """The one field whose path ends in ``name``; its mapping has to be there."""
        *parent, key = name.split(".")
        holders = [path for path in _mappings(self.tree) if _ends_in(path, parent)]
        there = [path for path in holders if key in get(self.tree, path)]
        if not parent and not there:
            build(self._stated, self._file)
            dims = {letter.name for letter in self.letters.values()}
            known = sorted({path[-1] for path, _ in leaves(self.tree)} | dims)
            kinds = self._kinds_with(name) or nearest(name, known)
            raise OptionError(f"nothing is called {name!r}{kinds}")
        if not holders:
            known = [".".join(path) for path in _mappings(self.tree) if path]
            wanted = ".".join(parent)
            raise OptionError(f"no field {wanted!r}{nearest(wanted, known)}")
        fields = there or holders
        if TOWERS not in parent:
            fields = self._of_text(fields)
        exact = [path for path in fields if list(path) == parent]
        if len(fields) > 1 and not exact:
            listed = ", ".join(".".join((*path, key)) for path in fields)
            raise OptionError(f"{name} stands in several places; name one of {listed}")
        return (*(exact or fields)[0], key)


def get(tree: Any, path: Iterable[str]) -> Any:
    """What stands at a path, or None."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def is_size(value: Any) -> bool:
    """Whether a field holds a dimension."""
    return isinstance(value, int) and not isinstance(value, bool)


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every field that is no mapping, with its path."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _mappings(tree: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(tree, dict):
        yield path
        for key, value in tree.items():
            yield from _mappings(value, (*path, key))


def _ends_in(path: Path, end: list[str]) -> bool:
    return not end or list(path[-len(end) :]) == end


def _required(kind: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind) if field.required}
