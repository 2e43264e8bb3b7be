"""Arithmetic over the dimensions of a description: ``4*d_model``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from txcalc.errors import OptionError
from txcalc.exact.quantity import Quantity, const
from txcalc.model.model import Model
from txcalc.report.expression import addresses, evaluate
from txcalc.report.format import decimal
from txcalc.sources.description import build
from txcalc.sources.places import Path, Places, get, is_size


class Assigned(NamedTuple):
    """An expression, where each of its names stands, and every field that its value depends on."""

    text: str
    names: Mapping[str, Path]
    reads: frozenset[Path]


def formula(text: str, places: Places) -> Assigned:
    """The formula that a text means in a tree.

    Raises:
        OptionError: a name that is nowhere, or stands for several values.
        ExpressionError: a text that cannot be read.
    """
    names, reads = {}, set()
    for name in addresses(text):
        paths = places.of(name)
        names[name] = paths[0]
        reads.update(paths)
        reads.update(places.behind(paths[0]))
    return Assigned(text, names, frozenset(reads))


def number(formula: Assigned, tree: Any, file: str) -> int:
    """What a formula comes to in a tree.

    Raises:
        OptionError: a name that is no dimension, or a value that is no whole number.
        DescriptionError: a name that only a model defines, in a tree that describes none.
    """

    def lookup(name: str) -> Quantity:
        path = formula.names[name]
        if is_size(value := get(tree, path)):
            return const(int(value))
        letter = build(tree, file).dims.get(".".join(path))
        if letter is None:
            raise OptionError(f"{name} is no dimension")
        return const(letter.value)

    value = evaluate(formula.text, lookup).value
    if not isinstance(value, int):
        raise OptionError(f"{formula.text} is {decimal(value)}, no whole number")
    return value


def define(model: Model, path: str, formula: Assigned) -> None:
    """Makes the letter at a path one that is defined by a formula of the model's other letters."""
    letters = {name: model.dims.get(".".join(place)) for name, place in formula.names.items()}
    known = {name: letter for name, letter in letters.items() if letter is not None}
    if known and len(known) == len(letters) and tuple(path.split(".")) not in formula.reads:
        model.dims[path].definition = evaluate(formula.text, known.__getitem__)
