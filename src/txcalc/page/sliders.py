"""What a reader of a page can move: the dimensions that a description states, as ``--set`` does."""

from __future__ import annotations

from typing import Any

import msgspec

from txcalc.exact.quantity import Letter
from txcalc.model.model import Model
from txcalc.report.explain import meaning
from txcalc.sources.places import Places


class Slider(msgspec.Struct, frozen=True):
    """One dimension under the name by which ``--set`` changes it, wherever it stands."""

    name: str
    letter: Letter
    paths: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """What the letter stands for."""
        return meaning(self.letter)


def sliders(model: Model, tree: Any, file: str) -> list[Slider]:
    """The dimensions of a model that its description states.

    One name stands for all places that have it, where they agree; else each has its path.
    """
    by_name: dict[str, list[Letter]] = {}
    for letter in model.dims.values():
        if letter.definition is None:
            by_name.setdefault(letter.name, []).append(letter)
    places = Places(tree, file)
    return [
        slider for name, letters in by_name.items() for slider in _of_name(name, letters, places)
    ]


def _of_name(name: str, letters: list[Letter], places: Places) -> list[Slider]:
    paths = tuple(letter.path for letter in letters)
    if len({letter.value for letter in letters}) == 1:
        meant = {".".join(path) for path in places.of(name)}
        if meant == set(paths):
            return [Slider(name, letters[0], paths)]
    return [Slider(letter.path, letter, (letter.path,)) for letter in letters]
