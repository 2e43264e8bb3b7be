"""Pieces of a description: tensors, and fields that are left out where they say nothing."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.config import Tree


def given(**fields: Any) -> Tree:
    """The fields that say something: neither None, False, "none" nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, False, "none", [])}


def tensor(use: str, *dims: int | str, **fields: Any) -> Tree:
    """A tensor that no part has: how it is used, its dims (out, in), and its other fields."""
    return {"use": use, "dims": [*dims], **fields}


def dense(name: str, out: int | str, inside: int | str, *, bias: bool = True) -> Tree:
    """A projection as tensors, with its bias."""
    return {name: tensor("matmul", out, inside)} | (
        {f"{name}_bias": tensor("bias", out)} if bias else {}
    )


def layer_norm(name: str, width: int | str = "d_model") -> Tree:
    """A norm with a bias as tensors."""
    return {key: tensor("norm", width) for key in (name, f"{name}_bias")}


def lookup(rows: int, width: int | str = "d_model") -> Tree:
    """A table as a tensor."""
    return tensor("lookup", rows, width)


def untied(tree: Tree) -> Tree:
    """The same with a head of its own, whatever the file says: the class ties none."""
    return tree | {"head": tree["head"] | {"tied": False}} if "head" in tree else tree


def noted(tree: Tree, note: str | None) -> Tree:
    """The same with one more note, if there is one."""
    return tree | {"notes": [*tree.get("notes", []), note]} if note else tree
