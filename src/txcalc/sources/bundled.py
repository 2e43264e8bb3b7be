"""The models that come with txcalc."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache

from txcalc.errors import DescriptionError, UnknownModelError, nearest

DOCUMENTED = ("toy", "gpt2-small", "gpt3")
"""The models of the documents that txcalc grew from: the answer where none is named."""

_FILES = (".yaml", ".yml", ".json", ".gguf")
"""Ends of names that are files."""
_REPOSITORY = r"[\w.-]+/[\w.-]+"


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


def having(texts: Sequence[str]) -> list[str]:
    """The names with one of some texts in them, in any case, or with parts of a kind so called.

    All of them where there are no texts.
    """
    wanted = [text.lower() for text in texts]
    return [
        name
        for name in names()
        if not wanted or any(text in name or text in _kinds(name, wanted) for text in wanted)
    ]


def find(name: str) -> str:
    """The file of a bundled name, in any case, of the repository that it is from, or of a path.

    Raises:
        UnknownModelError: neither a bundled name nor a file.
    """
    is_path = "/" in name or os.sep in name or name.endswith(_FILES)
    if not is_path and os.path.exists(_file(name)):
        return _file(name)
    if os.path.exists(name):
        return name
    known = names()
    if name.lower() in known:
        return _file(name.lower())
    if re.fullmatch(_REPOSITORY, name) and not name.endswith(_FILES):
        return _of_repository(name)
    if is_path:
        return name
    hint = nearest(name, known) or "; 'txcalc models' lists those there are"
    raise UnknownModelError(f"no bundled model and no file {name!r}{hint}")


def _file(name: str) -> str:
    return os.path.join(configs(), "models", f"{name}.yaml")


def _of_repository(repository: str) -> str:
    """The file whose ``source`` begins with a repository of the Hub."""
    for name in names():
        with open(_file(name), encoding="utf-8") as file:
            source = next((line for line in file if line.startswith("source: ")), "")
        if source.removeprefix("source: ").partition(",")[0].lower() == repository.lower():
            return _file(name)
    raise UnknownModelError(
        f"no bundled model and no file {repository!r}; hf:{repository} is its config.json on the "
        "Hugging Face Hub"
    )


def _kinds(name: str, wanted: Sequence[str]) -> set[str]:
    """The kinds of parts of a bundled model, if any kind is wanted."""
    from txcalc.sources import yaml
    from txcalc.sources.description import kinds_in
    from txcalc.sources.pieces import KINDS

    if not any(tag in wanted for kinds in KINDS.values() for tag in kinds):
        return set()
    return {str(k.__struct_config__.tag) for k in kinds_in(yaml.read(_file(name))).values()}
