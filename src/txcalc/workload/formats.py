"""Number formats: how many bytes hold how many elements."""

from __future__ import annotations

from fractions import Fraction

from txcalc.errors import OptionError, nearest
from txcalc.exact.quantity import Letter, exact

FORMATS: dict[str, tuple[int, int]] = {
    "fp32": (1, 4),
    "fp16": (1, 2),
    "bf16": (1, 2),
    "fp8": (1, 1),
    "int8": (1, 1),
    "int4": (2, 1),
}
"""Name -> (elements, bytes that hold them)."""


def size(fmt: str, letter: str, counted: str, origin: str = "") -> Letter:
    """Bytes of one of what is ``counted`` (parameters, elements) in a format, as a letter.

    ``origin`` says who chose the format, where that was not the question.

    Raises:
        OptionError: a format that is not known.
    """
    if fmt not in FORMATS:
        raise OptionError(f"unknown number format {fmt!r}{nearest(fmt, list(FORMATS))}")
    elements, held_in = FORMATS[fmt]
    unit = f"bytes/{counted.removesuffix('s')}"
    about = f"bytes of one {counted.removesuffix('s')} in {fmt}"
    made = Letter(exact(Fraction(held_in, elements)), letter, unit=unit, about=about)
    made.origin = origin
    return made
