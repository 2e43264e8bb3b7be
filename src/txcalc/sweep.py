"""Figures over ranges of letters, dimensions and models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Literal

import msgspec

from txcalc.accounts.question import LETTERS, Question
from txcalc.compiling import NAMESPACE, Code, Compiler, ratio, variables
from txcalc.quantity import Number
from txcalc.sized import Sized
from txcalc.sources import edits
from txcalc.sources.load import read

CHUNK = 8192
CHUNK_OF_SIZES = 64
MOST_CHECKED = 256
"""Combinations of models and sizes that are checked before the first line."""

Fmt = Literal["csv", "json"]
Value = int | str
Values = Sequence[Value]
Lines = Callable[..., str]
"""Of a line's start, the innermost values, and the outer numbers: as many lines of text."""


class Axis(msgspec.Struct, frozen=True):
    """A name of ``--over`` and its values."""

    name: str
    values: Values


class Sweep(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Addresses of a model over axes, the last of which varies fastest."""

    model: str
    addresses: Sequence[str]
    axes: Sequence[Axis]
    question: Question
    changes: Sequence[str] = ()
    type_: str | None = None
    strict: bool = False

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
        derived = self._checked()
        written: dict[str, Lines] = {}
        known: dict[object, str] = {}
        for values in product(*(axis.values for axis in outer)):
            start = _start(names[:-1], values, fmt)
            fixed = [v for a, v in zip(outer, values, strict=True) if a.name not in LETTERS]
            numbers = [v for a, v in zip(outer, values, strict=True) if a.name != "model"]
            for i, chunk in enumerate(_chunks(inner)):
                told = chunk[:1] if inner.name in LETTERS else chunk
                place = (*fixed, 0 if inner.name in LETTERS else i)
                if place not in known:
                    points = (dict(zip(names, (*values, v), strict=True)) for v in told)
                    [known[place]] = {self._check(point, derived) for point in points}
                model = known[place]
                if model not in written:
                    written[model] = self._writer(derived[model], fmt)
                yield len(chunk), written[model](start, chunk, *numbers)

    def _checked(self) -> dict[str, Sized]:
        """The derivations of the first models and sizes: what is refused comes before any line."""
        first = {axis.name: axis.values[0] for axis in self.axes}
        fixed = [axis for axis in self.axes if axis.name not in LETTERS]
        names = [axis.name for axis in fixed]
        derived: dict[str, Sized] = {}
        for values in islice(product(*(axis.values for axis in fixed)), MOST_CHECKED):
            self._check(first | dict(zip(names, values, strict=True)), derived)
        return derived

    def _check(self, point: Mapping[str, Value], derived: dict[str, Sized]) -> str:
        """The model of a point, once its derivations are known to hold there."""
        name = str(point.get("model", self.model))
        sizes = {n: int(v) for n, v in point.items() if n not in (*LETTERS, "model")}
        if name not in derived:
            tree, file, _ = read(name, type_=self.type_, strict=self.strict)
            edits.apply(tree, self.changes, file)
            asked = {n: v for n, v in point.items() if n in LETTERS}
            question = msgspec.structs.replace(self.question, **asked)
            derived[name] = Sized(tree, file, sizes, self.addresses, question)
        derived[name].check(sizes)
        return name

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
