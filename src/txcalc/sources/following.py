"""What a reader would expect to change with a dimension, and what stays as it is stated."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from txcalc.sources.places import TOWERS, Path, get, is_size, leaves

_POSITIONS = ("layers", "positions", "n_positions")


def notes(before: Any, after: Any, done: Container[str]) -> list[str]:
    """A line for each field that followed from a dimension by its value and does not any more.

    ``before`` and ``after`` are trees of a description, ``done`` the paths that were set.
    """
    lines: dict[str, None] = {}
    for path, value in leaves(after):
        if path[0] == TOWERS:
            continue
        if is_size(value) and ".".join(path) not in done and get(before, path) == value:
            relation = _relation(before, path, value)
            if relation and relation != _relation(after, path, value):
                name = _shortest(after, path)
                lines[
                    f"{name} stays {value:,}, {relation.replace('*', '·')} before: "
                    f"--set {name}={relation} would change it too"
                ] = None
    return list(lines)


def _relation(tree: Any, path: Path, value: int) -> str:
    """What a size is by its value, as arithmetic over other names; nothing where that is chance."""
    *parent, field = path
    d_model = get(tree, ("d_model",))
    n_heads = get(tree, (*parent, "n_heads"))
    if field == "head_dim" and is_size(n_heads) and n_heads * value == d_model:
        return "d_model/n_heads"
    if field == "n_kv_heads" and n_heads == value:
        return "n_heads"
    if field == "n_positions" and get(tree, ("context",)) == value:
        return "context"
    if field == "context" and get(tree, _POSITIONS) == value:
        return "n_positions"
    if field.startswith("d_") and parent and is_size(d_model) and value % d_model == 0:
        return "d_model" if value == d_model else f"{value // d_model}*d_model"
    return ""


def _shortest(tree: Any, path: Path) -> str:
    """A field's name where all fields of that name agree, else its path."""
    values = {value for other, value in leaves(tree) if other[-1] == path[-1] and is_size(value)}
    return path[-1] if len(values) == 1 else ".".join(path)
