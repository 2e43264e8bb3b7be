"""Descriptions made of others, and those of one layer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.support.describing.parts import Tree


def alone(tree: Tree, count: int) -> Tree:
    """The description with ``count`` layers of its first block and none of the others."""
    field = "layers" if "layers" in tree else "encoder"
    name, block = next(iter(tree["blocks"].items()))
    stack = {"count": count, "pattern": [name]}
    left = {key: value for key, value in tree.items() if key != "mtp"}
    return used_parts(left | {"blocks": {name: block}, field: stack})


def used_parts(tree: Tree) -> Tree:
    """The description without the shared parts that none of its blocks names."""
    named = [part for block in tree["blocks"].values() for part in block.values()]
    parts = {name: part for name, part in tree.get("parts", {}).items() if name in named}
    return {field: value for field, value in tree.items() if field != "parts"} | {"parts": parts}


def changed(tree: Tree, change: Callable[[Tree], None]) -> Tree:
    """A copy of the description, each of its mappings changed in place."""
    copied = copy.deepcopy(tree)

    def visit(node: Any) -> None:
        for below in node.values() if isinstance(node, dict) else ():
            visit(below)
        if isinstance(node, dict):
            change(node)

    visit(copied)
    return copied


def each_token(tree: Tree) -> Tree:
    """The description with what a pass does once a sequence done for every token."""

    def change(node: Tree) -> None:
        if node.get("stream") == "sequence":
            del node["stream"]

    return changed(tree, change)


def unbounded(tree: Tree) -> Tree:
    """The description with neither windows nor chunks, nor keys picked by an earlier layer."""

    def change(node: Tree) -> None:
        for field in ("window", "kept", "chunk", "shared_top_k"):
            node.pop(field, None)
        if node.get("kind") == "compressed":
            node["window"] = 10**9

    return changed(tree, change)


def layer(d_model: int = 8, **block: Any) -> Tree:
    """A decoder of one layer, without a norm unless one is stated."""
    return {
        "name": "layer",
        "source": "made up",
        "d_model": d_model,
        "vocab": 10,
        "context": 64,
        "blocks": {"decoder": {"norm": "none", **block}},
        "layers": {"count": 1, "pattern": ["decoder"]},
    }


def beside_encoder(tree: Tree, encoder_width: int, **block: Any) -> Tree:
    """The decoder beside an encoder of one layer, each with a token table of its own."""
    stack = {"count": 1, "pattern": ["encoder"], "d_model": encoder_width, "vocab": 5}
    return tree | {
        "blocks": tree["blocks"] | {"encoder": {"norm": "none", **block}},
        "encoder": stack,
        "layers": tree["layers"] | {"vocab": tree["vocab"]},
    }
