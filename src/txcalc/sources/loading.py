"""The one way in: from a name, a path or standard input to a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from txcalc.model.model import Model
from txcalc.sources import bundled, description, yaml

Read = tuple[Any, str, list[str]]
"""A description tree, the file that errors speak of, and warnings."""


def load(
    name: str, changes: Sequence[str] = (), *, type_: str | None = None, strict: bool = False
) -> Model:
    """The model of a bundled name, a YAML description, a config.json, its folder, a GGUF file, or
    ``-``.

    ``changes`` are ``--set`` edits; ``type_`` is the type of a config that names none; ``strict``
    makes keys that nothing reads an error.

    Raises:
        UnknownModelError: neither a bundled name nor a file.
        DescriptionError: a file that does not describe a model.
        RefusedError: a config.json with what is not modelled.
        OptionError: an edit that cannot be carried out.
    """
    tree, file, warnings = read(name, type_=type_, strict=strict)
    model = built(tree, file, changes)
    return msgspec.structs.replace(model, warnings=[*warnings, *model.warnings])


def built(tree: Any, file: str, changes: Sequence[str], sizes: Mapping[str, int] = {}) -> Model:
    """The model of a description tree with ``--set`` changes, and sizes that a sweep has set."""
    if not changes and not sizes:
        return description.build(tree, file)
    from txcalc.sources import edits

    swept = [f"{name}={value}" for name, value in sizes.items()]
    return edits.changed(
        tree, file, [*edits.parse_edits(changes), *edits.parse_edits(swept, "--over")]
    )


def described(
    name: str, changes: Sequence[str] = (), *, type_: str | None = None, strict: bool = False
) -> Read:
    """The description tree of a model with ``--set`` changes in it.

    Raises:
        TxcalcError: what :func:`load` refuses.
    """
    tree, file, warnings = read(name, type_=type_, strict=strict)
    model = built(tree, file, changes)
    if changes:
        from txcalc.sources import edits

        tree = edits.apply(tree, file, edits.parse_edits(changes)).tree
    return tree, file, [*warnings, *model.warnings]


def read(name: str, *, type_: str | None = None, strict: bool = False) -> Read:
    """The description tree of a model, before any edit."""
    if name.startswith("hf:"):
        return _fetched(name, type_=type_, strict=strict)
    path = "-" if name == "-" else bundled.find(name)
    if path.endswith((".yaml", ".yml")):
        return yaml.read(path), name, []
    if path.endswith(".gguf"):
        from txcalc.sources.checkpoints.described import described

        return described(path), path, []
    from txcalc.sources import huggingface

    if path == "-":
        text = sys.stdin.buffer.read(huggingface.MAX_BYTES + 1)
        if not text.lstrip().startswith((b"{", b"[")):
            return yaml.decoded(text, "-"), "-", []
        return huggingface.describe(text, "-", name="stdin", type_=type_, strict=strict)
    if os.path.isdir(path):
        path = os.path.join(path if path != os.curdir else "", "config.json")
    return huggingface.read_config(path, type_=type_, strict=strict)


def _fetched(address: str, *, type_: str | None, strict: bool) -> Read:
    from txcalc.sources import hub, huggingface

    path = hub.fetch(address)
    name = address.partition("/")[2].partition("@")[0]
    return huggingface.read_config(path, name=name, source=address, type_=type_, strict=strict)
