"""``--set NAME=V`` and ``--set PATH=V``: changes to a description before it is decoded.

All changes are made before the rules of a model are checked, so that their order is free.  A value
is YAML, a size as :mod:`txcalc.report.sizes` reads it, or arithmetic over names: ``4*d_model``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from txcalc.errors import DescriptionError, OptionError, TxcalcError
from txcalc.model.model import Model
from txcalc.report import sizes
from txcalc.report.expression import ExpressionError
from txcalc.sources import following, remedy, yaml
from txcalc.sources.description import build
from txcalc.sources.formulas import Assigned, define, formula, number
from txcalc.sources.places import Path, Places, get, is_size

_OPERATORS = ("+", "*", "/", "(", " - ")


class Edit(NamedTuple):
    """A change as it was given: the option, the name or path, and the value's text."""

    option: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.option} {self.name}={self.text}"


def parse_edits(texts: Sequence[str], option: str = "--set") -> list[Edit]:
    """The changes that some texts mean.

    Raises:
        OptionError: a text without a name.
    """
    edits = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise OptionError(f"{option} {text}: NAME=VALUE or PATH=VALUE is needed")
        edits.append(Edit(option, name, value.strip()))
    return edits


def changed(tree: Any, file: str, edits: Sequence[Edit]) -> Model:
    """The model of a tree with changes, the tree itself left alone.

    A letter that is set to arithmetic over others is defined by it.  The model's warnings say what
    a reader may have expected to change as well.

    Raises:
        OptionError: a change that cannot be made.
        DescriptionError: changes that contradict the rest, with a further one that would do.
    """
    changes = apply(tree, file, edits)
    try:
        model = build(changes.tree, changes.label)
    except DescriptionError as error:
        further = _remedy(changes, str(error), depth=2)
        hint = f"; with {' and '.join(map(str, further))} it would do" if further else ""
        raise DescriptionError(f"{error}{hint}") from None
    for place, made in changes.formulas.items():
        define(model, place, made)
    notes = following.notes(tree, changes.tree, changes.done)
    return msgspec.structs.replace(model, warnings=[f"{model.name}: {note}" for note in notes])


def apply(tree: Any, file: str, edits: Sequence[Edit]) -> Changes:
    """Makes changes to a copy of a tree, those of whole mappings before those of fields.

    Raises:
        OptionError: an edit that names nothing, or several things that do not agree.
    """
    changes = Changes(tree, file, edits)
    changes.make(sorted(edits, key=lambda edit: not edit.text.startswith("{")))
    return changes


def unshared(tree: Any) -> Any:
    """The same tree, nothing of which stands in two places: an edit of one leaves the other."""
    if isinstance(tree, dict):
        return {key: unshared(value) for key, value in tree.items()}
    return [unshared(item) for item in tree] if isinstance(tree, list) else tree


class Changes:
    """A changed copy of a tree; ``done`` and ``formulas`` say by path which edit, or arithmetic,
    set it.
    """

    def __init__(self, tree: Any, file: str, edits: Sequence[Edit]) -> None:
        self.tree = unshared(tree)
        self.file, self.edits = file, edits
        self.label = f"{file}{''.join(f' with {edit}' for edit in edits)}"
        self.stated = Places(tree, file)
        self._places = Places(self.tree, file, tree)
        self.done: dict[str, Edit] = {}
        self.formulas: dict[str, Assigned] = {}

    def make(self, edits: Sequence[Edit]) -> None:
        """Makes each edit once its field, and what it reads, is there."""
        while edits:
            left: list[Edit] = []
            refusals: list[OptionError] = []
            for i, edit in enumerate(edits):
                try:
                    self._make(edit, [*left, *edits[i + 1 :]])
                except (OptionError, ExpressionError) as error:
                    refusals.append(OptionError(f"{edit}: {error}"))
                    left.append(edit)
            if len(left) == len(edits):
                raise refusals[0]
            edits = left

    def _make(self, edit: Edit, others: Sequence[Edit]) -> None:
        paths = self._places.of(edit.name)
        value = self._value(edit, paths[0])
        places = [".".join(path) for path in paths]
        for place in places:
            self.formulas.pop(place, None)
        if isinstance(value, Assigned):
            self._wait(value, others)
            self.formulas |= dict.fromkeys(places, value)
            value = number(value, self.tree, self.file)
        for *parent, key in paths:
            get(self.tree, parent)[key] = value
        self.done |= dict.fromkeys(places, edit)

    def _value(self, edit: Edit, path: Path) -> Any:
        """What an edit's text means at a path: a size, YAML, or arithmetic over names."""
        if sizes.is_size(edit.text):
            return sizes.whole(edit.text)
        value, old = yaml.parse(edit.text, str(edit)), get(self.tree, path)
        if not isinstance(value, str) or isinstance(old, str):
            return value
        try:
            if any(operator in value for operator in _OPERATORS) or self._is_name(value, old):
                return formula(value, self._places)
            return sizes.whole(value) if is_size(old) else value
        except (OptionError, ExpressionError) as error:
            raise OptionError(f"{'.'.join(path)}: {error}") from None

    def _is_name(self, word: str, old: Any) -> bool:
        """Whether a word stands for a dimension where ``old`` stood."""
        letters = self._places.letters.values() if old is None else ()
        is_size_wanted = is_size(old) or any(letter.name == word for letter in letters)
        return word[:1].isalpha() and is_size_wanted

    def _wait(self, made: Assigned, others: Sequence[Edit]) -> None:
        """Refuses a formula as long as others are to set what it reads."""
        for other in others:
            try:
                paths = self._places.of(other.name)
            except OptionError:
                continue
            if any(read[: len(path)] == path for path in paths for read in made.reads):
                raise OptionError(f"it reads what {other} sets, which in turn waits for it")


def _remedy(changes: Changes, problem: str, depth: int) -> list[Edit]:
    """At most ``depth`` further changes with which a model could be built; none is known: none."""
    problem = problem.removeprefix(changes.label)
    for name, value in remedy.candidates(problem, changes.stated.letters, changes.done):
        further = Edit("--set", name, str(value))
        try:
            tried = apply(changes.stated.tree, changes.file, [*changes.edits, further])
        except TxcalcError:
            continue
        try:
            build(tried.tree, tried.label)
        except DescriptionError as error:
            others = _remedy(tried, str(error), depth - 1) if depth > 1 else []
            if not others:
                continue
            return [further, *others]
        return [further]
    return []
