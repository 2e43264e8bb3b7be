"""Figures over ranges of letters, dimensions and models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import prod
from typing import Any

import msgspec

from txcalc.accounts.options import question_for
from txcalc.accounts.registry import refuse_unread
from txcalc.errors import OptionError
from txcalc.exact.quantity import Number
from txcalc.sources.loading import read
from txcalc.sweeps.derived import Sized, Sizes
from txcalc.sweeps.writer import Fmt, Lines, quoted, start_of, writer
from txcalc.workload.question import LETTERS, Question

CHUNK = 8192
CHUNK_OF_SIZES = 64
AT_ONCE = 256
"""Combinations of models and sizes that are checked before anything else is done."""

Value = int | str
Values = Sequence[Value]
Point = Mapping[str, Value]


class Axis(msgspec.Struct, frozen=True):
    """A name of ``--over`` and its values."""

    name: str
    values: Values

    def extremes(self) -> tuple[Value, Value]:
        """The least and the greatest value; of a range, however long, at once."""
        values = self.values
        if isinstance(values, range):
            return values[0], values[-1]
        return min(values, key=int), max(values, key=int)


class Sweep:
    """Addresses and expressions of a model over axes, the last of which varies fastest.

    Without a ``model`` one of the axes is over models.  ``derived`` are the derivations by model.

    Raises:
        TxcalcError: whatever the first of its models and sizes are refused for, a name that is
            given twice over, or no model at all.
    """

    def __init__(
        self,
        model: str,
        addresses: Sequence[str],
        axes: Sequence[Axis],
        given: Mapping[str, object] = {},
        changes: Sequence[str] = (),
        *,
        type_: str | None = None,
        strict: bool = False,
        prefix: str = "--",
    ) -> None:
        self.model, self.addresses, self.axes = model, addresses, axes
        self._given, self._changes = given, changes
        self._type, self._strict = type_, strict
        self.derived: dict[str, Sized] = {}
        self._warnings: dict[str, None] = {}
        self._check_names()
        self._question = question_for(given, addresses, prefix=prefix)
        self._unchecked = self._fixed_points()
        for point in islice(self._unchecked, AT_ONCE):
            self._check(point)
        self._warnings |= dict.fromkeys(self._without_effect(prefix))

    @property
    def warnings(self) -> list[str]:
        """What single answers would warn of, as far as they are checked."""
        notes = (note for derived in self.derived.values() for note in derived.notes)
        return list(dict.fromkeys([*self._warnings, *notes]))

    @property
    def points(self) -> int:
        """How many there are."""
        return prod(len(axis.values) for axis in self.axes)

    def header(self) -> str:
        """The first line of CSV."""
        names = [*(axis.name for axis in self.axes), *self.addresses]
        return ",".join(map(quoted, names)) + "\n"

    def lines(self, fmt: Fmt) -> Iterator[tuple[int, str]]:
        """Chunks of whole lines and how many points each has.

        All models and sizes are checked before the first of them; meanwhile chunks are empty.

        Raises:
            TxcalcError: whatever a point of the sweep would be refused for.
        """
        for i, point in enumerate(self._unchecked, 1):
            self._check(point)
            if i % CHUNK_OF_SIZES == 0:
                yield 0, ""
        *outer, inner = self.axes
        names = [axis.name for axis in self.axes]
        writers: dict[str, Lines] = {}
        for values in _points(outer):
            start = start_of(names[:-1], values, fmt)
            numbers = [v for a, v in zip(outer, values, strict=True) if a.name != "model"]
            for chunk in _chunks(inner):
                point = dict(zip(names, (*values, chunk[0]), strict=True))
                name = str(point.get("model", self.model))
                if name not in writers:
                    writers[name] = writer(self.derived[name], names, self.addresses, fmt)
                yield len(chunk), writers[name](start, chunk, *numbers)

    def values(self) -> Iterator[dict[str, Number | str]]:
        """Every point: the values of the axes and the figures, exact.

        Raises:
            TxcalcError: whatever a point of the sweep would be refused for.
        """
        for _, text in self.lines("json"):
            for line in text.splitlines():
                yield {name: _exact(value) for name, value in json.loads(line).items()}

    def _fixed_points(self) -> Iterator[Point]:
        """Every combination of models and sizes."""
        fixed = [axis for axis in self.axes if axis.name not in LETTERS]
        for values in _points(fixed):
            yield {axis.name: value for axis, value in zip(fixed, values, strict=True)}

    def _check(self, point: Point) -> None:
        """Makes sure that the derivations of a point's model hold at its sizes."""
        name = str(point.get("model", self.model))
        sizes = {n: int(v) for n, v in point.items() if n != "model"}
        if name in self.derived:
            self.derived[name].check(sizes)
        else:
            self.derived[name] = self._derive(name, sizes)

    def _derive(self, name: str, sizes: Sizes) -> Sized:
        """The derivations of a model, which have to be there at the ends of all letters too."""
        tree, file, warnings = read(name, type_=self._type, strict=self._strict)
        letters = [axis for axis in self.axes if axis.name in LETTERS]
        asked = self._asked((axis.name, axis.values[0]) for axis in letters)
        derived = Sized(tree, file, sizes, self.addresses, asked, self._changes)
        for end in (0, 1):
            asked = self._asked((axis.name, axis.extremes()[end]) for axis in letters)
            warnings += derived.warnings(asked)
        self._warnings |= dict.fromkeys(warnings)
        return derived

    def _without_effect(self, prefix: str) -> Iterator[str]:
        """A warning for each axis that changes no figure of any model."""
        for axis in self.axes:
            is_read = any(derived.depends_on(axis.name) for derived in self.derived.values())
            if axis.name != "model" and not is_read:
                of = " and ".join(self.addresses) + (" does" if len(self.addresses) == 1 else " do")
                yield f"{prefix}over {axis.name} changes nothing here: {of} not depend on it"

    def _asked(self, letters: Iterable[tuple[str, Value]]) -> Question:
        return msgspec.structs.replace(self._question, **dict(letters))

    def _check_names(self) -> None:
        """Refuses what is given twice or not at all, and a letter that no account reads."""
        models = [value for axis in self.axes if axis.name == "model" for value in axis.values]
        if not models and not self.model:
            raise OptionError("no model is given: name one, or several with --over model=A,B")
        if models and self.model and self.model not in models:
            raise OptionError(
                f"the model {self.model} and --over model are both given: one of them"
            )
        if not self.addresses:
            raise OptionError("an address is needed, as params.total")
        for address in self.addresses:
            if list(self.addresses).count(address) > 1:
                raise OptionError(f"the address {address!r} is given twice")
        letters = [axis.name for axis in self.axes if axis.name in LETTERS]
        for name in letters:
            if name in self._given:
                raise OptionError(f"--{name} and --over {name} are both given: one of them")
        refuse_unread(letters, self.addresses, "--over ")


def _exact(value: Any) -> Number | str:
    """A value of a line of JSON; a number that is no integer stands beside its exact n/d."""
    return Fraction(value["exact"]) if isinstance(value, dict) else value


def _points(axes: Sequence[Axis]) -> Iterator[tuple[Value, ...]]:
    """The product of axes, the last of which varies fastest, without a list of their values."""
    if not axes:
        yield ()
        return
    for value in axes[0].values:
        for rest in _points(axes[1:]):
            yield (value, *rest)


def _chunks(axis: Axis) -> Iterator[Values]:
    """The innermost values: as many at once as one function writes before a signal is heard."""
    size = 1 if axis.name == "model" else CHUNK if axis.name in LETTERS else CHUNK_OF_SIZES
    values = iter(axis.values)
    while chunk := list(islice(values, size)):
        yield chunk
