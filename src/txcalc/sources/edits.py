"""``--set NAME=V`` and ``--set PATH=V``: changes to a description before it is decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from txcalc.errors import OptionError, nearest
from txcalc.sources import yaml
from txcalc.sources.decoding import LETTER_NAMES
from txcalc.sources.description import build

Path = tuple[str, ...]

_FIELDS = {letter: field for field, letter in LETTER_NAMES.items()}


def apply(tree: Any, edits: Sequence[str], file: str, option: str = "--set") -> dict[str, str]:
    """Carries out each ``NAME=V`` or ``PATH=V`` on the tree, in the order given.

    Returns the path of each field that was set, and the edit that set it last.

    Raises:
        OptionError: an edit that names nothing, or several things that do not agree.
    """
    done = {}
    for edit in edits:
        name, sign, text = edit.partition("=")
        if not sign or not name:
            raise OptionError(f"{option} {edit}: NAME=VALUE or PATH=VALUE is needed")
        value = yaml.load(text, f"{option} {edit}")
        try:
            paths = places(tree, name, file)
        except OptionError as error:
            raise OptionError(f"{option} {edit}: {error}") from None
        for *parent, key in paths:
            get(tree, parent)[key] = value
            done[".".join((*parent, key))] = edit
    return done


def places(tree: Any, name: str, file: str) -> list[Path]:
    """Where in a tree the fields stand that a name, or the end of a path, means.

    Raises:
        OptionError: no such field, or several that do not agree.
    """
    if "." in name:
        return [_field(tree, name, file)]
    written = [
        path for path, value in _leaves(tree)
        if path[-1] == _FIELDS.get(name, name) and is_size(value)
    ]  # fmt: skip
    paths = written or _derived(tree, name, file)
    if not paths:
        return [_field(tree, name, file)]
    values = {path: get(tree, path) for path in paths}
    if len(set(values.values())) > 1:
        listed = ", ".join(f"{'.'.join(path)} = {value}" for path, value in values.items())
        raise OptionError(f"{name} has several values; name one path of {listed}")
    return paths


def get(tree: Any, path: Iterable[str]) -> Any:
    """What stands at a path, or None."""
    for key in path:
        tree = tree.get(key)
    return tree


def is_size(value: Any) -> bool:
    """Whether a field holds a dimension."""
    return isinstance(value, int) and not isinstance(value, bool)


def unshared(tree: Any) -> Any:
    """The same tree, nothing of which stands in two places: an edit of one leaves the other."""
    if isinstance(tree, dict):
        return {key: unshared(value) for key, value in tree.items()}
    return [unshared(item) for item in tree] if isinstance(tree, list) else tree


def _derived(tree: Any, name: str, file: str) -> list[Path]:
    """Where a dimension stands that the description leaves out and the model defines."""
    dims = build(tree, file).dims
    return [tuple(path.split(".")) for path, letter in dims.items() if letter.name == name]


def _field(tree: Any, name: str, file: str) -> Path:
    """The one field whose path ends in ``name``; its mapping has to be there."""
    *parent, key = name.split(".")
    holders = [path for path in _mappings(tree) if _ends_in(path, parent)]
    there = [path for path in holders if key in get(tree, path)]
    if not parent and not there:
        dims = {letter.name for letter in build(tree, file).dims.values()}
        known = sorted({path[-1] for path, _ in _leaves(tree)} | dims)
        raise OptionError(f"nothing is called {name!r}{nearest(name, known)}")
    if not holders:
        known = [".".join(path) for path in _mappings(tree) if path]
        wanted = ".".join(parent)
        raise OptionError(f"no field {wanted!r}{nearest(wanted, known)}")
    found = there or holders
    exact = [path for path in found if list(path) == parent]
    if len(found) > 1 and not exact:
        listed = ", ".join(".".join((*path, key)) for path in found)
        raise OptionError(f"{name} stands in several places; name one of {listed}")
    return (*(exact or found)[0], key)


def _ends_in(path: Path, end: list[str]) -> bool:
    return not end or list(path[-len(end) :]) == end


def _leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for key, value in tree.items() if isinstance(tree, dict) else ():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _mappings(tree: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(tree, dict):
        yield path
        for key, value in tree.items():
            yield from _mappings(value, (*path, key))
