"""The units that documents write after a number, and what each is worth."""

from __future__ import annotations

from fractions import Fraction

from txcalc.errors import nearest

_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6, "Z": 7}
_WORDS = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
    "百": 10**2, "千": 10**3, "万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12,
}  # fmt: skip
_COUNTED = {
    "FLOPs": "FLOPs", "FLOP": "FLOPs", "MACs": "MACs", "MAC": "MACs",
    "parameters": "parameters", "parameter": "parameters", "params": "parameters",
    "tokens": "tokens", "token": "tokens", "elements": "elements", "sequences": "sequences",
    "FLOPs/byte": "FLOPs/byte", "FLOP/byte": "FLOPs/byte",
}  # fmt: skip
_BYTES = {
    **{f"{p}B": Fraction(1000) ** n for p, n in _POWERS.items()},
    **{f"{p}iB": Fraction(1024) ** n for p, n in _POWERS.items() if p not in ("", "k")},
    "byte": Fraction(1),
    "bytes": Fraction(1),
    "バイト": Fraction(1),
    "字节": Fraction(1),
}
_SHARES = {"%": Fraction(1, 100), "％": Fraction(1, 100), "x": Fraction(1), "×": Fraction(1),
           "倍": Fraction(1)}  # fmt: skip
_PREFIXED = {
    f"{p}{name}": (Fraction(1000) ** n, unit)
    for p, n in _POWERS.items()
    for name, unit in _COUNTED.items()
    if name.startswith(("FLOP", "MAC"))
}
NAMES = sorted({*_WORDS, *_COUNTED, *_BYTES, *_PREFIXED, *_SHARES}, key=len, reverse=True)
"""All of them, the longest first."""


def scale_of(unit: str, counted: str) -> Fraction:
    """What one or two unit words are worth next to a figure that counts ``counted``.

    Raises:
        ValueError: a unit that is unknown, or one that counts something else.
    """
    scale = Fraction(1)
    for word in _words(unit):
        factor, what = _worth(word, counted)
        if what is not None and what != counted:
            figure = counted or "a pure number"
            raise ValueError(f"it counts {what or 'a share'}, but the figure is {figure}")
        scale *= factor
    return scale


def _words(unit: str) -> list[str]:
    """The words of a unit; two may be written together (``億FLOPs``)."""
    words = unit.split()
    if len(words) == 1 and unit not in NAMES:
        for i in range(1, len(unit)):
            if unit[:i] in (*_WORDS, "B") and unit[i:] in NAMES:
                return [unit[:i], unit[i:]]
    return words


def _worth(word: str, counted: str) -> tuple[Fraction, str | None]:
    """A factor, and what the word counts if it says so."""
    if word == "B" and counted != "bytes":
        return Fraction(10**9), None
    if word in _SHARES:
        return _SHARES[word], ""
    if word in _BYTES:
        return _BYTES[word], "bytes"
    if word in _WORDS:
        return Fraction(_WORDS[word]), None
    if word in _PREFIXED:
        return _PREFIXED[word]
    if word in _COUNTED:
        return Fraction(1), _COUNTED[word]
    raise ValueError(f"unknown unit {word!r}{nearest(word, NAMES)}")
