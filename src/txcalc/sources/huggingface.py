"""From a config.json to the description it means."""

from __future__ import annotations

import os

from txcalc.errors import DescriptionError, RefusedError, nearest
from txcalc.sources.edits import unshared
from txcalc.sources.families import TYPES, USUAL, alike, family
from txcalc.sources.families.classes import of_class, plain
from txcalc.sources.files import read_bytes
from txcalc.sources.harmless import is_harmless
from txcalc.sources.json import parse
from txcalc.sources.readers.config import Config, Task, Tree
from txcalc.sources.readers.stored import stored_of

MAX_BYTES = 4_000_000


def read(
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
    model_type, class_ = _identify(tree, file, type_)
    if model_type not in TYPES:
        raise RefusedError(
            f"{file}: unknown model_type {model_type!r}{nearest(model_type, list(TYPES))}"
        )
    task = _task(model_type, class_, tree, file)
    config = Config(tree, file, task, type_=model_type, class_=class_)
    config.ignore("model_type", "architectures")
    described = family(model_type)(config)
    notes = [f"type {model_type}, class {class_ or f'the usual {task} one'}"]
    head = {
        "name": name,
        "source": file if file.startswith("hf:") else f"{os.path.basename(file)} ({model_type})",
    }
    described = head | described | {"notes": notes + described.get("notes", [])}
    if _overridden(config):
        config.unsupported(f"per_layer_config of type {model_type!r}")
    stored, unknown = stored_of(tree, file)
    described |= stored
    count = (described.get("layers") or described["encoder"])["count"]
    unread = _unread(config, count, file, strict=strict)
    found = [*_contradictions(model_type, class_, type_, file), *unread, *unknown]
    return unshared(described), file, found


def _identify(tree: Tree, file: str, type_: str | None) -> tuple[str, str]:
    """The model's type and class."""
    classes = tree.get("architectures")
    class_ = classes[0] if isinstance(classes, list) and classes else ""
    model_type = tree.get("model_type") or type_
    if not isinstance(class_, str) or not isinstance(model_type, str | None):
        raise DescriptionError("model_type and architectures have to be names", where=file)
    model_type = model_type or of_class(class_)[0]
    if model_type is None:
        raise DescriptionError(
            "neither model_type nor a known class in architectures; name the type with --type",
            where=file,
        )
    return model_type, class_


def _task(model_type: str, class_: str, tree: Tree, file: str) -> Task:
    """What the class counts; without a class, what the flags say, else the type's usual one."""
    if not class_:
        return _task_of_flags(USUAL[model_type], tree, file)
    type_, task = of_class(class_)
    if task is None:
        raise RefusedError(f"{file}: the class {class_!r} is not modelled")
    same = type_ and alike(type_, model_type) and USUAL[type_] == USUAL[model_type]
    if task == "body" and not same:
        raise RefusedError(f"{file}: the class {class_!r} of type {model_type!r} is not modelled")
    return task


def _task_of_flags(usual: Task, tree: Tree, file: str) -> Task:
    for flag in ("is_encoder_decoder", "is_decoder"):
        if not isinstance(tree.get(flag), bool | None):
            raise DescriptionError("true or false is needed", where=f"{file}: {flag}")
    if tree.get("is_encoder_decoder"):
        return "conditional"
    if tree.get("is_decoder") or (usual == "conditional" and "is_encoder_decoder" in tree):
        return "causal"
    return usual


def _contradictions(model_type: str, class_: str, type_: str | None, file: str) -> list[str]:
    """Warnings where the class or ``--type`` is another type's.

    Raises:
        DescriptionError: a class of encoders for a type of decoders.
    """
    class_type, _ = of_class(class_)
    warnings = []
    if class_type and not _agree(model_type, class_type):
        both = f"model_type {model_type!r} and class {class_!r}"
        if USUAL[class_type] != "causal" and USUAL[model_type] == "causal":
            raise DescriptionError(f"{both} contradict each other", where=file)
        warnings.append(f"{file}: {both} differ; it is counted as its model_type says")
    if type_ and type_ != model_type:
        warnings.append(f"{file}: its own model_type {model_type!r} is taken, not --type {type_}")
    return warnings


def _agree(a: str, b: str) -> bool:
    """Whether two types are one, described alike, or a whole model and its text model."""
    return alike(a, b) or plain(a).startswith(plain(b)) or plain(b).startswith(plain(a))


def _overridden(config: Config) -> bool:
    """Whether layers have configs of their own that the family did not read."""
    unread = [path for path in config.unread() if path.endswith("per_layer_config")]
    return any(path != "per_layer_config" or config.raw(path) for path in unread)


def _unread(config: Config, count: int, file: str, *, strict: bool) -> list[str]:
    """One warning about keys that neither the family nor the list of harmless ones knows."""
    unread = config.unread()
    if "layer_types" in unread and isinstance(config.raw("layer_types"), list):
        config.words("layer_types", length=count)
    unknown = [path for path in unread if not is_harmless(path.rpartition(".")[2])]
    if not unknown:
        return []
    listed = ", ".join(unknown)
    if strict:
        raise DescriptionError(f"keys that nothing here reads: {listed}", where=file)
    return [f"{file}: keys that nothing here reads, so they change no count: {listed}"]
