"""``--over NAME=VALUES``: the values of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from txcalc.errors import OptionError
from txcalc.exact.quantity import LARGEST
from txcalc.report.sizes import whole
from txcalc.sweeps.sweep import Axis, Values

HELP = "write NAME=A:B, A:B:+STEP, A:B:xFACTOR or A,B,C; what is no number is chosen with --set"


def axes(texts: Sequence[str]) -> list[Axis]:
    """The axes of all ``--over`` options.

    Raises:
        OptionError: an axis that cannot be read, or a name that stands twice.
    """
    if not texts:
        raise OptionError(f"--over is missing: {HELP}")
    read = [_axis(text) for text in texts]
    names = [axis.name for axis in read]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"--over {name}: given twice")
    return read


def axes_of(over: Mapping[str, str | Iterable[int | str]]) -> list[Axis]:
    """The axes of values by name: lists, ranges, or texts as ``--over`` takes them.

    Raises:
        OptionError: a name without values, or a value that cannot be read.
    """
    if not over:
        raise OptionError("over is empty: give values by name, as ctx=[512, 1024]")
    return [
        _axis(f"{name}={values}") if isinstance(values, str) else Axis(name, _listed(name, values))
        for name, values in over.items()
    ]


def _listed(name: str, values: Iterable[int | str]) -> Values:
    """The values of a list; of a range, however long, its ends are looked at."""
    listed = values if isinstance(values, range) else list(values)
    if not listed:
        raise OptionError(f"over {name}: no value is given")
    if name == "model":
        return [str(value) for value in listed]
    if isinstance(listed, range):
        _ = _sized(name, listed[0]), _sized(name, listed[-1])
        return listed
    return [_sized(name, value) for value in listed]


def _sized(name: str, value: object) -> int:
    if isinstance(value, str):
        return _number(f"{name}={value}", value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LARGEST:
        raise OptionError(f"over {name}: whole numbers from 1 to 10^15 are needed")
    return value


def _axis(text: str) -> Axis:
    name, equals, values = text.partition("=")
    if not equals or not name or not values:
        raise OptionError(f"--over {text}: {HELP}")
    if name == "model":
        return Axis(name, values.split(","))
    return Axis(name, _values(text, values))


def _values(text: str, values: str) -> Values:
    if ":" not in values:
        return [_number(text, value) for value in values.split(",")]
    low, high, *step = values.split(":")
    first, last = _number(text, low), _number(text, high)
    if first > last:
        raise OptionError(f"--over {text}: {first} is above {last}")
    match step:
        case []:
            return range(first, last + 1)
        case [by] if by.startswith("+"):
            return range(first, last + 1, _number(text, by[1:]))
        case [by] if by.startswith("x"):
            return _powers(text, first, last, _number(text, by[1:]))
        case [by] if by.isascii() and by.isdigit():
            raise OptionError(f"--over {text}: a third number is a step, +{by}, or a factor, x{by}")
        case _:
            raise OptionError(f"--over {text}: {HELP}")


def _powers(text: str, first: int, last: int, factor: int) -> list[int]:
    if factor == 1:
        raise OptionError(f"--over {text}: a factor of 1 never gets there")
    values = [first]
    while values[-1] * factor <= last:
        values.append(values[-1] * factor)
    return values


def _number(text: str, digits: str) -> int:
    try:
        number = whole(digits)
    except OptionError as error:
        raise OptionError(f"--over {text}: {error}; {HELP}") from None
    if not 0 < number <= LARGEST:
        raise OptionError(f"--over {text}: {digits} is out of range: from 1 to 10^15")
    return number
