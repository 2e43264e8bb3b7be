"""JSON as config.json files are read: one object, no key with two values, and faults by place."""

from __future__ import annotations

import json
from typing import Any

from txcalc.errors import DescriptionError


def parse(text: bytes, file: str, *, unique: bool = False) -> dict[str, Any]:
    """The object of a config.json; with ``unique`` no key stands twice, whatever its values.

    Raises:
        DescriptionError: no JSON, no object, a key with two values, or nested too deep.
    """

    def one_value(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        tree = dict(pairs)
        if len(tree) < len(pairs):
            _refuse_twice(pairs, tree, file, unique=unique)
        return tree

    try:
        tree = json.loads(text.decode("utf-8-sig"), object_pairs_hook=one_value)
    except UnicodeDecodeError as error:
        raise DescriptionError(f"not UTF-8 at byte {error.start}", where=file) from None
    except json.JSONDecodeError as error:
        where = f"{file}:{error.lineno}:{error.colno}"
        raise DescriptionError(f"bad JSON: {error.msg}", where=where) from None
    except (RecursionError, ValueError) as error:
        what = "nested too deep" if isinstance(error, RecursionError) else "a number is too long"
        raise DescriptionError(f"bad JSON: {what}", where=file) from None
    if not isinstance(tree, dict):
        raise DescriptionError(f"an object is needed, not {shown(tree)}", where=file)
    return tree


def _refuse_twice(
    pairs: list[tuple[str, Any]], tree: dict[str, Any], file: str, *, unique: bool
) -> None:
    """Refuses a key that stands twice, unless with one value where that is allowed."""
    stood = set()
    for key, value in pairs:
        if repr(value) != repr(tree[key]):
            raise DescriptionError(
                f"the key {key!r} stands twice, with different values", where=file
            )
        if unique and key in stood:
            raise DescriptionError(f"the key {key!r} stands twice", where=file)
        stood.add(key)


def shown(value: Any) -> str:
    """A value in an error message."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
