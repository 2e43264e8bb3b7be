"""The models that come with txcalc."""

from __future__ import annotations

import os
from functools import lru_cache

from txcalc.errors import DescriptionError, UnknownModelError, nearest

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


def find(name: str) -> str:
    """The file of a bundled name, or the path itself.

    Raises:
        UnknownModelError: neither a bundled name nor a file.
    """
    bundled = os.path.join(configs(), "models", f"{name}.yaml")
    is_path = os.sep in name or name.endswith((".yaml", ".yml", ".json"))
    if not is_path and os.path.exists(bundled):
        return bundled
    if os.path.exists(name) or is_path:
        return name
    known = names()
    hint = nearest(name, known) or "; 'txcalc models' lists those there are"
    raise UnknownModelError(f"no bundled model and no file {name!r}{hint}")
