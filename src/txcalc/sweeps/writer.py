"""Lines of CSV and JSON, written by one compiled function a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from sys import float_info
from typing import Literal

from txcalc.exact.emit import NAMESPACE, Code, Compiler, variables
from txcalc.exact.quantity import Number, ratio
from txcalc.report.format import inert, plain, shortest
from txcalc.sweeps.derived import Sized

Fmt = Literal["csv", "json"]
Lines = Callable[..., str]
"""Of a line's start, the innermost values, and the outer numbers: as many lines of text."""
_LARGEST = int(float_info.max)


def writer(derived: Sized, names: Sequence[str], addresses: Sequence[str], fmt: Fmt) -> Lines:
    """The function that writes the lines of one model, whatever its letters and sizes are.

    ``names`` are those of the axes, the innermost last.
    """
    inner = names[-1]
    letters = [name for name in names if name != "model"]
    compiler = Compiler(letters, derived.places)
    cells = [_cell(compiler.code(figure), fmt) for figure in derived.figures]
    codes = dict(zip(letters, variables(letters), strict=True))
    fast = codes.pop(inner, "v")
    in_cell = json.dumps if fmt == "json" else quoted
    namespace = NAMESPACE | {"plain": _plain, "exactly": _exactly, "quoted": in_cell}
    shown = f"{{{fast}}}" if inner != "model" else f"{{quoted({fast})}}"
    if fmt == "json":
        keys = [json.dumps(name) for name in (inner, *addresses)]
        namespace |= {f"k{i}": key for i, key in enumerate(keys)}
        line = ", ".join(f"{{k{i}}}: {cell}" for i, cell in enumerate([shown, *cells]))
        line += "}}"
    else:
        line = ",".join([shown, *cells])
    outer = "".join(f", {code}" for code in codes.values())
    source = f"lambda start, chunk{outer}: ''.join([f'{{start}}{line}\\n' for {fast} in chunk])"
    written: Lines = eval(source, namespace)
    return written


def start_of(names: Sequence[str], values: Sequence[int | str], fmt: Fmt) -> str:
    """What every line of a chunk begins with."""
    if fmt == "csv":
        return "".join(f"{quoted(str(value))}," for value in values)
    return "{" + "".join(
        f"{json.dumps(n)}: {json.dumps(v)}, " for n, v in zip(names, values, strict=True)
    )


def quoted(text: str) -> str:
    """A cell of CSV."""
    text = inert(text)
    return '"' + text.replace('"', '""') + '"' if set(text) & set('",\r\n') else text


def _cell(code: Code, fmt: Fmt) -> str:
    """The source of a value between the braces of a format string."""
    if code.is_whole:
        return f"{{{code.above}}}"
    write = "plain" if fmt == "csv" else "exactly"
    return f"{{{write}({code.above}, {code.below})}}"


def _plain(above: Number, below: Number) -> str:
    if type(above) is int and type(below) is int:
        whole, rest = divmod(above, below)
        if not rest:
            return str(whole)
        if abs(whole) < _LARGEST and abs(number := above / below) >= float_info.min:
            return repr(number)
    value = ratio(above, below)
    return str(value) if isinstance(value, int) else shortest(value)


def _exactly(above: Number, below: Number) -> str:
    """A JSON number, or one beside its exact n/d."""
    value = ratio(above, below)
    if isinstance(value, int):
        return str(value)
    return f'{{"value": {shortest(value)}, "exact": "{plain(value, as_fraction=True)}"}}'
