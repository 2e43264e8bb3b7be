"""The models that come with txcalc, and any description in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from txcalc.errors import DescriptionError, UnknownModelError, nearest
from txcalc.model import Model
from txcalc.sources import description, edits, strict_yaml

DOCUMENTED = ("toy", "gpt2-small", "gpt3")
"""The models of the documents that txcalc grew from: the answer where none is named."""


@lru_cache(maxsize=1)
def configs() -> str:
    """The folder of bundled descriptions: in the package, or two folders up in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for base in (package, os.path.dirname(os.path.dirname(package))):
        folder = os.path.join(base, "configs")
        if os.path.isdir(os.path.join(folder, "models")):
            return folder
    raise DescriptionError("the bundled configs are missing: install txcalc again", where=package)


def names() -> list[str]:
    """The names of the bundled models, sorted."""
    entries = os.listdir(os.path.join(configs(), "models"))
    return sorted(entry.removesuffix(".yaml") for entry in entries if entry.endswith(".yaml"))


def load(name: str, changes: Sequence[str] = ()) -> Model:
    """The model of a bundled name or of a YAML file, changed by ``--set`` edits.

    Raises:
        UnknownModelError: neither a bundled name nor a file.
        DescriptionError: a file that does not describe a model.
        OptionError: an edit that cannot be carried out.
    """
    path = _find(name)
    tree = strict_yaml.read(path)
    if changes:
        edits.apply(tree, changes, path)
    return description.build(tree, path)


def _find(name: str) -> str:
    bundled = os.path.join(configs(), "models", f"{name}.yaml")
    is_path = os.sep in name or name.endswith((".yaml", ".yml"))
    if not is_path and os.path.exists(bundled):
        return bundled
    if os.path.exists(name) or is_path:
        return name
    known = names()
    hint = nearest(name, known) or "; 'txcalc models' lists those there are"
    raise UnknownModelError(f"no bundled model and no file {name!r}{hint}")
