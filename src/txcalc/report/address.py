"""The grammar of addresses: ``ACCOUNT.block.NAME.component.row``, words joined by dots.

Below ``block`` the name of a kind of block follows; where a model has one kind alone, or all kinds
agree, an address may leave it out.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

_BLOCK = ".block."


def is_arithmetic(text: str) -> bool:
    """Whether a text is more than one address: see :mod:`txcalc.report.expression`."""
    return not text[:1].isalpha() or any(character in text for character in "+*/() \t\n")


def first(address: str) -> str:
    """The first word: of an address its account, of a row's name its component."""
    return address.partition(".")[0]


def parent(address: str) -> str:
    """The address without its last word."""
    return address.rpartition(".")[0]


def below(address: str, start: str) -> str:
    """What follows ``start`` in an address that has it in front, else all of it."""
    return address.removeprefix(f"{start}.")


def is_below(address: str, start: str) -> bool:
    """Whether an address has ``start`` and more words behind it."""
    return address.startswith(f"{start}.")


def next_word(address: str, start: str) -> str:
    """The word that follows ``start``."""
    return first(below(address, start))


def block(account: str, kind: str) -> str:
    """The address of one kind of block."""
    return f"{account}{_BLOCK}{kind}"


def with_kinds(address: str, kinds: Iterable[str]) -> list[str]:
    """An address that leaves out a block's name, with each name put in; none if it has no block."""
    head, block, tail = f"{address}.".partition(_BLOCK)
    if not block:
        return []
    return [f"{head}{_BLOCK}{kind}.{tail}".rstrip(".") for kind in kinds]


def short(address: str, kinds: Sequence[str]) -> str:
    """An address as it is written: without the block's name where there is one kind alone."""
    if len(kinds) == 1:
        head, block, tail = address.partition(f"{_BLOCK}{kinds[0]}")
        if block:
            return f"{head}.block{tail}"
    return address


def whole(address: str, root: str) -> str:
    """What an address is a part of: its block, or for a block and all else the total."""
    words = address.split(".")
    is_in_block = words[1] == "block" and len(words) > 3
    return ".".join(words[:3]) if is_in_block else f"{root}.total"


def split(address: str, kinds: Container[str]) -> list[str]:
    """The words of an address, ``block.NAME`` being one where NAME is among the ``kinds``."""
    words = address.split(".")
    if len(words) > 2 and words[1] == "block" and words[2] in kinds:
        words[1:3] = [".".join(words[1:3])]
    return words


def above(address: str, known: Container[str], kinds: Container[str]) -> list[str]:
    """Those of the addresses above one that are ``known``, the nearest last."""
    words = split(address, kinds)
    starts = (".".join(words[:n]) for n in range(2, len(words)))
    return [start for start in starts if start in known]
