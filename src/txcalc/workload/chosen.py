"""What ``--weights`` and ``--kv`` say: ``FMT[,NAME=FMT...]``, read in one place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache

import msgspec

from txcalc.errors import OptionError, nearest
from txcalc.workload.formats import NUMBERS, Format
from txcalc.workload.gguf import BLOCKS
from txcalc.workload.mixes import BASES, Mix, mix
from txcalc.workload.schemes import CACHE_ONLY, GROUPED, SCHEMES, Scheme

OWN = "own"
MOST_DIGITS = 6
"""Digits of a group's size."""


class Chosen(msgspec.Struct, frozen=True):
    """The formats of a model's weights or of its cache.

    ``base`` holds what has no format of its own; None leaves it to the flat numbers of ``--dtype``,
    as it does what a scheme does not hold.  ``named`` are roles of weights or rows of state.
    """

    base: Format | Scheme | Mix | None = None
    named: Mapping[str, Format] = {}

    @property
    def is_flat(self) -> bool:
        """Whether one flat number holds all."""
        return self.number is not None and not self.named

    @property
    def number(self) -> str | None:
        """The flat number of the base, where it is one."""
        return self.base.name if self.base is not None and self.base.name in NUMBERS else None


def chosen_weights(text: str | None, dtype: str, stored: str | None = None) -> Chosen:
    """The formats of weights; without a text all are in ``dtype``.

    In front of names stands a format, a scheme, a mix, or ``own``: the formats in which a model is
    ``stored``, which stand for ``dtype`` where the model is not known yet.

    Raises:
        OptionError: a format that is not known or that holds no weights, or a role named twice.
    """
    if not is_own(text):
        return _weights(dtype if text is None else text)
    assert text is not None
    given = _weights(dtype + text.removeprefix(OWN))
    own = _weights(dtype if stored is None else stored)
    return Chosen(own.base, {**own.named, **given.named})


def is_own(text: str | None) -> bool:
    """Whether weights are asked for as the model is stored."""
    return text is not None and text.partition(",")[0] == OWN


@lru_cache(maxsize=64)
def _weights(text: str) -> Chosen:
    return _chosen("weights", text, _weights_base, _weights_role)


@lru_cache(maxsize=64)
def chosen_cache(text: str | None, dtype: str) -> Chosen:
    """The formats of a cache; without a text all is in ``dtype``.

    Raises:
        OptionError: a format that is not known or that holds no cache, or a row named twice.
    """
    return _chosen("kv", dtype if text is None else text, _cache, _cache)


def check_names(option: str, chosen: Chosen, known: Collection[str], whose: str) -> None:
    """Refuses names that a model has nothing of.

    Raises:
        OptionError: naming the option, the name, and those that ``whose`` model has.
    """
    for name in chosen.named:
        if name not in known:
            raise OptionError(
                f"--{option} {name}=: {whose} has no {name!r}{nearest(name, [*known])}"
            )


def _chosen(
    option: str,
    text: str,
    base_of: Callable[[str], Format | Scheme | Mix],
    format_of: Callable[[str], Format],
) -> Chosen:
    base, named = None, {}
    try:
        for place, item in enumerate(text.split(",")):
            name, is_named, fmt = item.partition("=")
            if not is_named and place == 0:
                base = base_of(name)
            elif not is_named:
                raise OptionError(f"{item!r} is no NAME=FMT: one format stands first, then names")
            elif name in named:
                raise OptionError(f"{name!r} is named twice")
            else:
                named[name] = format_of(fmt)
    except OptionError as error:
        raise OptionError(f"--{option} {text}: {error}") from None
    return Chosen(base, named)


def _weights_base(name: str) -> Format | Scheme | Mix:
    if name in NUMBERS:
        return NUMBERS[name]
    if name in BLOCKS:
        raise OptionError(
            f"{name!r} is a block type of GGUF: name a role with it (ffn={name}), "
            f"or choose a mix of a whole file ({', '.join(_mixes_of(name))})"
        )
    chosen = _scheme(name) or mix(name)
    if chosen is None:
        raise _unknown(name, [*NUMBERS, *SCHEMES, *_grouped(), *BASES, OWN])
    return chosen


def _weights_role(name: str) -> Format:
    if name in NUMBERS or name in BLOCKS:
        return NUMBERS[name] if name in NUMBERS else BLOCKS[name]
    scheme = _scheme(name)
    if scheme is None:
        raise _unknown(name, [*NUMBERS, *SCHEMES, *_grouped(), *BLOCKS])
    return scheme.format


def _cache(name: str) -> Format:
    formats = NUMBERS | CACHE_ONLY | BLOCKS
    if name not in formats:
        raise _unknown(name, list(formats))
    return formats[name]


def _scheme(name: str) -> Scheme | None:
    """A scheme by its name, or by its family and the size of its groups."""
    if name in SCHEMES:
        return SCHEMES[name]
    for family, made in GROUPED.items():
        group = name.removeprefix(family)
        if group != name and group.isascii() and group.isdigit() and len(group) <= MOST_DIGITS:
            return made(name, int(group)) if group[0] != "0" else None
    return None


def _grouped() -> list[str]:
    return [f"{family}N" for family in GROUPED]


def _mixes_of(block: str) -> list[str]:
    """The mixes that mostly are of a block type; of one that none is of, all."""
    return [name for name, base in BASES.items() if base == block] or list(BASES)


def _unknown(name: str, known: list[str]) -> OptionError:
    return OptionError(f"unknown number format {name!r}{nearest(name, known)}")
