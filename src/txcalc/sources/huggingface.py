"""From a config.json to the description it means."""

from __future__ import annotations

import os

from txcalc.errors import DescriptionError
from txcalc.sources.edits import unshared
from txcalc.sources.families import family
from txcalc.sources.families.heads import has_pooler, with_head
from txcalc.sources.families.mechanisms import with_mechanisms
from txcalc.sources.files import read_bytes
from txcalc.sources.harmless import is_harmless
from txcalc.sources.identity import identify
from txcalc.sources.json import parse
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.stored import stored_of
from txcalc.sources.towers import with_towers

MAX_BYTES = 4_000_000
SHOWN = 24
"""Keys that one warning names."""


def read_config(
    path: str,
    *,
    name: str = "",
    source: str = "",
    type_: str | None = None,
    strict: bool = False,
) -> tuple[Tree, str, list[str]]:
    """:func:`describe` of a file, named after its folder where it is called config.json."""
    folder, file = os.path.split(os.path.abspath(path))
    stem = os.path.basename(folder) if file == "config.json" else file.removesuffix(".json")
    text = read_bytes(path, MAX_BYTES)
    return describe(text, source or path, name=name or stem or "config", type_=type_, strict=strict)


def describe(
    text: bytes, file: str, *, name: str, type_: str | None = None, strict: bool = False
) -> tuple[Tree, str, list[str]]:
    """A description tree, its file, and warnings; ``type_`` helps where the file names none.

    Raises:
        DescriptionError: a file that is no config, or contradicts itself.
        RefusedError: a type, class or feature that is not modelled.
    """
    tree = parse(text, file)
    known = identify(tree, file, type_)
    model_type, head = known.type_, known.head
    config = Config(
        tree, file, known.task, type_=model_type, class_=known.class_, head=head,
        pooler=has_pooler(model_type, head),
    )  # fmt: skip
    config.ignore("model_type", "architectures")
    described = with_mechanisms(family(model_type)(config), model_type)
    if head is not None:
        described = with_head(described, config, head)
    described = with_towers(described, config, model_type)
    notes = [f"type {model_type}, class {known.class_ or f'the usual {known.task} one'}"]
    names = {
        "name": name,
        "source": file if file.startswith("hf:") else f"{os.path.basename(file)} ({model_type})",
    }
    described = names | described | {"notes": notes + described.get("notes", [])}
    if _overridden(config):
        config.unsupported(f"per_layer_config of type {model_type!r}")
    stored, unknown = stored_of(tree, file)
    described |= stored
    stack = described.get("layers") or described.get("encoder") or {}
    unread = _unread(config, stack.get("count"), file, strict=strict)
    return unshared(described), file, [*known.warnings, *unread, *unknown]


def _overridden(config: Config) -> bool:
    """Whether layers have configs of their own that the family did not read."""
    unread = [path for path in config.unread() if path.endswith("per_layer_config")]
    return any(path != "per_layer_config" or config.raw(path) for path in unread)


def _unread(config: Config, count: int | None, file: str, *, strict: bool) -> list[str]:
    """One warning about keys that neither the family nor the list of harmless ones knows."""
    unread = config.unread()
    if "layer_types" in unread and isinstance(config.raw("layer_types"), list):
        config.words("layer_types", length=count)
    unknown = [path for path in unread if not is_harmless(path.rpartition(".")[2])]
    if not unknown:
        return []
    rest = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
    listed = ", ".join(unknown[:SHOWN]) + rest
    if strict:
        raise DescriptionError(f"keys that nothing here reads: {listed}", where=file)
    return [f"{file}: keys that nothing here reads; what they stand for is not counted: {listed}"]
