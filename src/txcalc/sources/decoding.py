"""Pieces of a tree to structs: every error knows its whole path, every letter its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import msgspec

from txcalc.errors import DescriptionError, nearest
from txcalc.exact.condition import Condition
from txcalc.exact.quantity import LARGEST, Letter, Quantity, const, product
from txcalc.model.parts.base import Part
from txcalc.validation import fault

LETTER_NAMES = {"count": "n_layers"}
"""Fields whose letter has another name than they have."""

MOST_FACTORS = 8
NO_SIZE = "{0} is no size: a whole number from 1 to 10^15 is needed"

P = TypeVar("P")
T = TypeVar("T", bound=msgspec.Struct)


class Decoder:
    """Decodes struct by struct, since msgspec drops dictionary keys from its paths."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._base = ""
        self.dims: dict[str, Letter] = {}
        self.conditions: list[Condition] = []

    def decode(self, tree: Any, kind: type[T], path: str) -> T:
        """A struct of one kind from a mapping, its letters bound."""
        self.mapping(tree, path, kind)
        try:
            decoded = msgspec.convert(tree, kind, dec_hook=_letter)
        except msgspec.ValidationError as error:
            field, problem = fault(error, kind)
            self.refuse(".".join(p for p in (path, field) if p), problem)
        self.bind(decoded, path)
        return decoded

    def mapping(self, tree: Any, path: str, kind: type[msgspec.Struct] | None) -> dict[str, Any]:
        """The tree itself, once it is known to be a mapping whose keys the kind has."""
        if not isinstance(tree, dict):
            self.refuse(path, "a mapping of fields is needed here")
        if kind is not None:
            known = [*kind.__struct_fields__, *(["kind"] if issubclass(kind, Part) else [])]
            for key in tree:
                if key not in known:
                    self.refuse(_below(path, key), "unknown field" + nearest(key, known))
        return tree

    def bind(self, struct: msgspec.Struct, path: str) -> None:
        """Gives the letters of a struct their names and paths."""
        for field in struct.__struct_fields__:
            value = getattr(struct, field)
            if isinstance(value, msgspec.Struct):
                self.bind(value, _below(path, field))
            elif isinstance(value, Letter):
                value.name = LETTER_NAMES.get(field, field)
                value.path = _below(path, field)
                value.about = (type(struct), field)
                self.dims[value.path] = value

    def size(self, size: Any, path: str, scope: str) -> Quantity:
        """A number, the letter that a name or a whole path means, or a product.

        A name is that of a letter at the base (the top level, or a tower) or anywhere below
        ``scope``.  ``2*d_model`` is a product of such, at least one of them a letter.
        """
        if isinstance(size, int):
            return const(self.checked(lambda: _letter(Letter, size), path).value)
        if isinstance(size, str) and "*" in size:
            factors = [text.strip() for text in size.split("*", MOST_FACTORS)]
            if len(factors) > MOST_FACTORS:
                self.refuse(path, f"a product of more than {MOST_FACTORS} sizes")
            whole = product(*(self.size(_factor(text), path, scope) for text in factors))
            self.require(Condition("at most", whole, const(LARGEST), NO_SIZE), path)
            return whole
        if "." in str(size) and size in self.dims:
            return self.dims[size]
        places = [p for p in self.dims if self._is_at_base(p) or (scope and p.startswith(scope))]
        letters = [letter for p in places if (letter := self.dims[p]).name == size]
        if len({letter.value for letter in letters}) != 1:
            known = sorted({self.dims[place].name for place in places})
            self.refuse(path, f"{size!r} names no one dimension here{nearest(str(size), known)}")
        return letters[0]

    def _is_at_base(self, path: str) -> bool:
        return path.startswith(self._base) and "." not in path[len(self._base) :]

    def checked(self, make: Callable[[], P], path: str) -> P:
        """What ``make`` returns; its ValueError becomes an error with a path."""
        try:
            return make()
        except ValueError as error:
            self.refuse(path, str(error))

    def require(self, condition: Condition, path: str) -> None:
        """Refuses values between which a condition does not hold."""
        if not condition.holds:
            self.refuse(path, condition.problem)
        self.conditions.append(msgspec.structs.replace(condition, where=path))

    def refuse(self, path: str, message: str) -> NoReturn:
        """Ends with an error at a field."""
        raise DescriptionError(message, where=f"{self._file}: {path}" if path else self._file)


def _factor(text: str) -> int | str:
    """A factor of a product: a number in plain digits, else a name."""
    return int(text) if re.fullmatch("[1-9][0-9]{0,15}", text) else text


def _below(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def _letter(_: type, raw: Any) -> Letter:
    """A size as a letter that does not know its name yet."""
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise ValueError(f"a whole number is needed, not {raw!r}")
    if not 0 < raw <= LARGEST:
        raise ValueError(NO_SIZE.format(raw))
    letter = Letter(int(raw))
    letter.origin = getattr(raw, "key", "")
    return letter
