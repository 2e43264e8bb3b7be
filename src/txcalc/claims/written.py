"""A number as a document writes it: ``124M``, ``17.3 MFLOPs``, ``9 GiB``, ``66.7%``, ``1.24億``."""

from __future__ import annotations

import re
from fractions import Fraction

import msgspec

from txcalc.errors import TxcalcError

_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6, "Z": 7}
_WORDS = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
    "万": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12,
}  # fmt: skip
_COUNTED = {
    "FLOPs": "FLOPs", "FLOP": "FLOPs", "MACs": "MACs", "MAC": "MACs",
    "parameters": "parameters", "params": "parameters", "tokens": "tokens", "token": "tokens",
    "FLOPs/byte": "FLOPs/byte", "FLOP/byte": "FLOPs/byte",
}  # fmt: skip
_BYTES = {
    **{f"{p}B": Fraction(1000) ** n for p, n in _POWERS.items() if p != "K"},
    "KB": Fraction(1000),
    **{f"{p}iB": Fraction(1024) ** n for p, n in _POWERS.items() if p not in ("", "k")},
    "byte": Fraction(1),
    "bytes": Fraction(1),
}
_PREFIXED = {
    f"{p}{name}": (Fraction(1000) ** n, unit)
    for p, n in _POWERS.items()
    for name, unit in _COUNTED.items()
    if name.startswith(("FLOP", "MAC"))
}
_UNITS = sorted({*_WORDS, *_COUNTED, *_BYTES, *_PREFIXED, "%", "x", "×"}, key=len, reverse=True)
_UNIT = "|".join(map(re.escape, _UNITS))
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
NUMBER = (
    rf"[-−]?(?:\d+/\d+|(?:{_DIGITS})(?:[eE][+-]?\d{{1,4}}|\s?[×x]\s?10\^\d{{1,4}})?"
    rf"(?:(?:\s?(?:{_UNIT})){{1,2}}(?![\w/]))?)"
)
"""A number and the unit that may follow it, as a regular expression."""

_WHOLE = re.compile(
    rf"(?P<sign>[-−]?)(?:(?P<above>\d+)/(?P<below>\d+)|(?P<digits>{_DIGITS})"
    rf"(?P<power>[eE][+-]?\d{{1,4}}|\s?[×x]\s?10\^\d{{1,4}})?"
    rf"(?P<gap>\s?)(?P<unit>(?:{_UNIT})?(?:\s?(?:{_UNIT}))?))"
)


class WrittenError(TxcalcError):
    """A text that is no number, or a unit that does not fit."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """``mantissa`` times ``scale``, one unit in the last digit being ``step`` times ``scale``.

    ``step`` is 0 for a fraction, which is exact; ``unit`` is what is counted, if the text says.
    """

    text: str
    mantissa: Fraction
    step: Fraction
    scale: Fraction
    unit: str

    @property
    def value(self) -> Fraction:
        """What the text says."""
        return self.mantissa * self.scale

    @property
    def last_digit(self) -> Fraction:
        """What one more in the last digit would add."""
        return self.step * self.scale


def read(text: str, counted: str) -> Written:
    """A written number next to a figure that counts ``counted``.

    Without bytes to count, ``B`` is a billion.

    Raises:
        WrittenError: no number, an unknown unit, or one that does not fit the figure.
    """
    match = _WHOLE.fullmatch(text.strip())
    if match is None:
        raise WrittenError(f"{text!r} is no number that can be read, as 124M, 9 GiB or 66.7%")
    scale, unit = _scale(match["unit"] or "", counted, text)
    if unit and unit != counted:
        told = counted or "a pure number"
        raise WrittenError(f"{text!r} counts {unit}, but the figure is {told}")
    sign = -1 if match["sign"] else 1
    if match["above"]:
        if int(match["below"]) == 0:
            raise WrittenError(f"{text!r} divides by zero")
        value = sign * Fraction(int(match["above"]), int(match["below"]))
        return Written(text=text, mantissa=value, step=Fraction(0), scale=scale, unit=unit)
    digits = match["digits"].replace(",", "")
    decimals = len(digits.partition(".")[2])
    power = re.sub(r".*?([+-]?\d+)$", r"\1", match["power"] or "0")
    return Written(
        text=text,
        mantissa=sign * Fraction(digits),
        step=Fraction(1, 10**decimals),
        scale=scale * Fraction(10) ** int(power),
        unit=unit,
    )


def write(written: Written, value: Fraction) -> str:
    """Another value in the style of a written number: its unit, separators and digits."""
    match = _WHOLE.fullmatch(written.text.strip())
    if match is None or match["above"]:
        return f"{value.numerator}/{value.denominator}"
    digits = match["digits"]
    decimals = len(digits.partition(".")[2])
    scaled = abs(value) / written.scale
    whole = _half_even(scaled * 10**decimals)
    grouped = "," in digits or ("." not in digits and "," not in digits and len(digits) <= 3)
    head, tail = divmod(whole, 10**decimals)
    number = f"{head:,}" if grouped and (written.text.count(",") or head < 1000) else str(head)
    text = f"{number}.{tail:0{decimals}d}" if decimals else number
    start, end = match.span("digits")
    stripped = written.text.strip()
    sign = "-" if value < 0 else ""
    return sign + text + stripped[end:] if start <= len(match["sign"]) else text


def _half_even(value: Fraction) -> int:
    return round(value)


def _scale(unit: str, counted: str, text: str) -> tuple[Fraction, str]:
    """The factor of one or two unit words, and what they count."""
    words = unit.split()
    if len(words) <= 1 and unit:
        words = _split(unit.strip(), counted)
    scale, named = Fraction(1), ""
    for word in words:
        factor, what = _word(word, counted, text)
        scale *= factor
        named = what or named
    return scale, named


def _split(unit: str, counted: str) -> list[str]:
    """One word that is known, or two written together (``億FLOPs``)."""
    if unit in _UNITS or unit == "B":
        return [unit]
    for i in range(1, len(unit)):
        if unit[:i] in _WORDS and unit[i:] in _UNITS:
            return [unit[:i], unit[i:]]
    return [unit]


def _word(word: str, counted: str, text: str) -> tuple[Fraction, str]:
    if word == "B" and counted != "bytes":
        return Fraction(10**9), ""
    if word == "%":
        return Fraction(1, 100), ""
    if word in ("x", "×"):
        return Fraction(1), ""
    if word in _BYTES:
        return _BYTES[word], "bytes"
    if word in _WORDS:
        return Fraction(_WORDS[word]), ""
    if word in _COUNTED:
        return Fraction(1), _COUNTED[word]
    if word in _PREFIXED:
        return _PREFIXED[word]
    raise WrittenError(f"{text!r}: unknown unit {word!r}")
