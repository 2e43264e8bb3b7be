"""Figures over ranges of letters, dimensions and models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import prod
from typing import Literal

import msgspec

from txcalc.accounts.question import LETTERS, Question
from txcalc.compiling import NAMESPACE, Code, Compiler, ratio, variables
from txcalc.errors import OptionError
from txcalc.quantity import Number
from txcalc.sized import Sized
from txcalc.sources import edits
from txcalc.sources.load import read

CHUNK = 8192
CHUNK_OF_SIZES = 64
MOST_CHECKED = 256
"""Combinations of models and sizes that are all checked before the first line."""
MOST_KNOWN = 100_000
"""Combinations that are remembered as checked where there are more."""

Fmt = Literal["csv", "json"]
Value = int | str
Values = Sequence[Value]
Point = Mapping[str, Value]
Lines = Callable[..., str]
"""Of a line's start, the innermost values, and the outer numbers: as many lines of text."""


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
        self, model: str, addresses: Sequence[str], axes: Sequence[Axis], question: Question,
        changes: Sequence[str] = (), *, type_: str | None = None, strict: bool = False,
    ) -> None:  # fmt: skip
        self.model, self.addresses, self.axes = model, addresses, axes
        self._question, self._changes = question, changes
        self._type, self._strict = type_, strict
        self.derived: dict[str, Sized] = {}
        self.warnings: list[str] = []
        self._given_once()
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
        return ",".join([*(axis.name for axis in self.axes), *self.addresses]) + "\n"

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
            start = _start(names[:-1], values, fmt)
            fixed = tuple(v for a, v in zip(outer, values, strict=True) if a.name not in LETTERS)
            numbers = [v for a, v in zip(outer, values, strict=True) if a.name != "model"]
            for chunk in _chunks(inner):
                point: Point = dict(zip(names, (*values, chunk[0]), strict=True))
                if not self._is_checked and fixed not in known:
                    for value in chunk[:1] if inner.name in LETTERS else chunk:
                        self._check({**point, inner.name: value})
                name = str(point.get("model", self.model))
                if name not in writers:
                    writers[name] = self._writer(self.derived[name], fmt)
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
            return
        tree, file, warnings = read(name, type_=self._type, strict=self._strict)
        edits.apply(tree, self._changes, file)
        letters = [axis for axis in self.axes if axis.name in LETTERS]
        first, low, high = (
            msgspec.structs.replace(self._question, **dict(asked))
            for asked in (
                [(axis.name, axis.values[0]) for axis in letters],
                [(axis.name, axis.extremes()[0]) for axis in letters],
                [(axis.name, axis.extremes()[1]) for axis in letters],
            )
        )
        self.derived[name] = Sized(tree, file, sizes, self.addresses, first)
        warnings += self.derived[name].warnings(low) + self.derived[name].warnings(high)
        self.warnings += [warning for warning in warnings if warning not in self.warnings]

    def _given_once(self) -> None:
        default = Question()
        for address in self.addresses:
            if list(self.addresses).count(address) > 1:
                raise OptionError(f"the address {address!r} is given twice")
        changed = [change.partition("=")[0] for change in self._changes]
        for axis in self.axes:
            given = axis.name in LETTERS and getattr(self._question, axis.name) != getattr(
                default, axis.name
            )
            if given or axis.name in changed:
                option = f"--{axis.name}" if given else f"--set {axis.name}"
                raise OptionError(f"{option} and --over {axis.name} are both given: one of them")

    def _writer(self, derived: Sized, fmt: Fmt) -> Lines:
        """The function that writes the lines of one model, whatever its letters and sizes are."""
        inner = self.axes[-1].name
        letters = [axis.name for axis in self.axes if axis.name != "model"]
        compiler = Compiler(letters, derived.places)
        cells = [_cell(compiler.code(figure), fmt) for figure in derived.figures]
        names = dict(zip(letters, variables(letters), strict=True))
        fast = names.pop(inner, "v")
        namespace = NAMESPACE | {"plain": _plain, "exactly": _exactly}
        if fmt == "json":
            keys = [json.dumps(name) for name in (inner, *self.addresses)]
            namespace |= {f"k{i}": key for i, key in enumerate(keys)}
            shown = f"{{{fast}}}" if inner != "model" else f"{{quoted({fast})}}"
            namespace["quoted"] = json.dumps
            line = ", ".join(f"{{k{i}}}: {cell}" for i, cell in enumerate([shown, *cells]))
            line += "}}"
        else:
            line = ",".join([f"{{{fast}}}", *cells])
        outer = "".join(f", {name}" for name in names.values())
        source = f"lambda start, chunk{outer}: ''.join([f'{{start}}{line}\\n' for {fast} in chunk])"
        written: Lines = eval(source, namespace)
        return written


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


def _start(names: Sequence[str], values: Values, fmt: Fmt) -> str:
    """What every line of a chunk begins with."""
    if fmt == "csv":
        return "".join(f"{value}," for value in values)
    return "{" + "".join(
        f"{json.dumps(n)}: {json.dumps(v)}, " for n, v in zip(names, values, strict=True)
    )


def _cell(code: Code, fmt: Fmt) -> str:
    """The source of a value between the braces of a format string."""
    if code.below == "1":
        return f"{{{code.above}}}"
    write = "plain" if fmt == "csv" else "exactly"
    return f"{{{write}({code.above}, {code.below})}}"


def _plain(above: Number, below: Number) -> str:
    if type(above) is int and type(below) is int:
        whole, rest = divmod(above, below)
        return repr(above / below) if rest else str(whole)
    value = ratio(above, below)
    return str(value) if isinstance(value, int) else repr(float(value))


def _exactly(above: Number, below: Number) -> str:
    """A JSON number, or one beside its exact n/d."""
    value = ratio(above, below)
    if isinstance(value, int):
        return str(value)
    return f'{{"value": {float(value)!r}, "exact": "{value.numerator}/{value.denominator}"}}'
