"""What msgspec finds wrong, in the words of those who wrote it."""

from __future__ import annotations

import re
from typing import get_args, get_type_hints

import msgspec

from txcalc.errors import nearest

_TYPES = {
    "bool": "true or false", "array": "a list", "object": "a mapping", "str": "a word",
    "int": "a whole number", "null": "nothing", "float": "a number with decimals",
}  # fmt: skip

_NO_WORD = "Invalid enum value "


def fault(error: msgspec.ValidationError, kind: type[msgspec.Struct]) -> tuple[str, str]:
    """The field of ``kind`` that an error is about, and what is wrong with it."""
    message, _, below = str(error).partition(" - at `$")
    field = below.rstrip("`").lstrip(".")
    return field, _plain(message, kind, field)


def _plain(message: str, kind: type[msgspec.Struct], field: str) -> str:
    if message.startswith("Expected"):
        kinds = [
            " or ".join(_TYPES.get(name, name) for name in names.split(" | "))
            for names in re.findall("`([^`]*)`", message)
        ]
        if len(kinds) == 2:
            return f"{kinds[0]} is needed, not {kinds[1]}"
        bound = message.rpartition("`")[2].strip()
        return f"{kinds[0]} {bound} is needed"
    if message.startswith(_NO_WORD):
        word = message.removeprefix(_NO_WORD)[1:-1]
        return f"{word!r} is not known{nearest(word, _choices(kind, field))}"
    return message[0].lower() + message[1:].replace("`", "'")


def _choices(kind: type[msgspec.Struct], field: str) -> list[str]:
    """The words that a field may be."""
    hint = get_type_hints(kind).get(re.split(r"[.\[]", field)[0])
    words: list[str] = []
    hints = [hint]
    while hints:
        inner = get_args(hints.pop())
        words += [word for word in inner if isinstance(word, str)]
        hints += [each for each in inner if not isinstance(each, str)]
    return words
