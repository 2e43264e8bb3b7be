"""Figures over ranges of letters, dimensions and models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import prod

import msgspec

from txcalc.accounts.options import question_for
from txcalc.accounts.registry import refuse_unread
from txcalc.errors import OptionError
from txcalc.sources.loading import read
from txcalc.sweeps.derived import Sized, Sizes
from txcalc.sweeps.writer import Fmt, Lines, quoted, start_of, writer
from txcalc.workload.question import LETTERS, Question

CHUNK = 8192
CHUNK_OF_SIZES = 64
MOST_CHECKED = 256
"""Combinations of models and sizes that are all checked before the first line."""
MOST_KNOWN = 100_000
"""Combinations that are remembered as checked where there are more."""

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
    """Addresses of a model over axes, the last of which varies fastest.

    ``derived`` are the derivations by model, ``warnings`` what single answers would warn of.

    Raises:
        TxcalcError: whatever the first of its models and sizes are refused for, and a name that is
            given twice over.
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
    ) -> None:
        self.model, self.addresses, self.axes = model, addresses, axes
        self._given, self._changes = given, changes
        self._type, self._strict = type_, strict
        self.derived: dict[str, Sized] = {}
        self.warnings: list[str] = []
        self._check_names()
        self._question = question_for(given, addresses)
        fixed = [axis for axis in axes if axis.name not in LETTERS]
        first: Point = {axis.name: axis.values[0] for axis in axes}
        names = [axis.name for axis in fixed]
        for values in islice(_points(fixed), MOST_CHECKED):
            self._check({**first, **dict(zip(names, values, strict=True))})
        self._is_checked = prod(len(axis.values) for axis in fixed) <= MOST_CHECKED

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

        Raises:
            TxcalcError: whatever a point of the sweep would be refused for.
        """
        *outer, inner = self.axes
        names = [axis.name for axis in self.axes]
        writers: dict[str, Lines] = {}
        known: set[tuple[Value, ...]] = set()
        for values in _points(outer):
            start = start_of(names[:-1], values, fmt)
            fixed = tuple(v for a, v in zip(outer, values, strict=True) if a.name not in LETTERS)
            numbers = [v for a, v in zip(outer, values, strict=True) if a.name != "model"]
            for chunk in _chunks(inner):
                point: Point = dict(zip(names, (*values, chunk[0]), strict=True))
                if not self._is_checked and fixed not in known:
                    for value in chunk[:1] if inner.name in LETTERS else chunk:
                        self._check({**point, inner.name: value})
                name = str(point.get("model", self.model))
                if name not in writers:
                    writers[name] = writer(self.derived[name], names, self.addresses, fmt)
                yield len(chunk), writers[name](start, chunk, *numbers)
            if len(known) >= MOST_KNOWN:
                known.clear()
            known.add(fixed)

    def _check(self, point: Point) -> None:
        """Makes sure that the derivations of a point's model hold at its sizes."""
        name = str(point.get("model", self.model))
        sizes = {n: int(v) for n, v in point.items() if n not in (*LETTERS, "model")}
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
        self.warnings += [warning for warning in warnings if warning not in self.warnings]
        return derived

    def _asked(self, letters: Iterable[tuple[str, Value]]) -> Question:
        return msgspec.structs.replace(self._question, **dict(letters))

    def _check_names(self) -> None:
        """Refuses what stands twice, and a letter that no account of the addresses reads."""
        for address in self.addresses:
            if list(self.addresses).count(address) > 1:
                raise OptionError(f"the address {address!r} is given twice")
        letters = [axis.name for axis in self.axes if axis.name in LETTERS]
        for name in letters:
            if name in self._given:
                raise OptionError(f"--{name} and --over {name} are both given: one of them")
        refuse_unread(letters, self.addresses, "--over ")


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
