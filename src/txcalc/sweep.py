"""Figures over ranges of letters, dimensions and models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Literal

import msgspec

from txcalc.accounts import ask
from txcalc.accounts.question import LETTERS, Question
from txcalc.compiling import NAMESPACE, Code, Compiler, ratio, variables
from txcalc.errors import OptionError
from txcalc.quantity import Number
from txcalc.sources.load import load

CHUNK = 8192
MOST_KEPT = 256
"""Compiled functions at once."""


Fmt = Literal["csv", "json"]
Value = int | str
Values = Sequence[Value]
Lines = Callable[..., str]
"""Of a line's start, the innermost values, and the outer letters: as many lines of text."""


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
        compiled = self._checked(fmt)
        for values in product(*(axis.values for axis in outer)):
            for chunk in _chunks(inner):
                point = dict(zip((a.name for a in self.axes), (*values, chunk[0]), strict=True))
                fixed = tuple(point[a.name] for a in self.axes if a.name not in LETTERS)
                if fixed not in compiled:
                    if len(compiled) >= MOST_KEPT:
                        compiled.clear()
                    compiled[fixed] = self._compile(point, fmt)
                start = _start([axis.name for axis in outer], values, fmt)
                letters = [v for a, v in zip(outer, values, strict=True) if a.name in LETTERS]
                yield len(chunk), compiled[fixed](start, chunk, *letters)

    def _checked(self, fmt: Fmt) -> dict[tuple[Value, ...], Lines]:
        """The functions of all models and dimensions, where they are few: before any output."""
        first = {axis.name: axis.values[0] for axis in self.axes}
        fixed = [axis for axis in self.axes if axis.name not in LETTERS]
        count = prod(len(axis.values) for axis in fixed)
        if count > MOST_KEPT:
            return {}
        return {
            values: self._compile(
                first | dict(zip((a.name for a in fixed), values, strict=True)), fmt
            )
            for values in product(*(axis.values for axis in fixed))
        }

    def _compile(self, point: Mapping[str, Value], fmt: Fmt) -> Lines:
        """The function that writes the lines of one model, whatever its letters are."""
        letters = [axis.name for axis in self.axes if axis.name in LETTERS]
        sizes = [f"{n}={v}" for n, v in point.items() if n not in (*LETTERS, "model")]
        name = str(point.get("model", self.model))
        try:
            model = load(name, [*self.changes, *sizes], type_=self.type_)
        except OptionError as error:
            told = str(error)
            for size in sizes:
                told = told.replace(f"--set {size}", f"--over {size}")
            raise OptionError(told) from None
        asked = {name: point[name] for name in letters}
        question = msgspec.structs.replace(self.question, **asked)
        compiler = Compiler(letters)
        codes = []
        for address in self.addresses:
            figure = ask.report_of(address, model, question).find(address)
            codes.append(compiler.code(figure))
        return self._writer(codes, letters, fmt)

    def _writer(self, codes: Sequence[Code], letters: Sequence[str], fmt: Fmt) -> Lines:
        inner = self.axes[-1].name
        names = dict(zip(letters, variables(letters), strict=True))
        fast = names.pop(inner, "v")
        cells = [_cell(code, fmt) for code in codes]
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
    """The innermost values: many at once where a compiled function serves them all."""
    if axis.name not in LETTERS:
        yield from ([value] for value in axis.values)
        return
    values = iter(axis.values)
    while chunk := list(islice(values, CHUNK)):
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
