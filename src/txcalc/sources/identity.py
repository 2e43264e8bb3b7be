"""Which type and class a config.json is of: as it says itself, or as ``--type`` says for it."""

from __future__ import annotations

import msgspec

from txcalc.errors import DescriptionError, RefusedError, nearest
from txcalc.sources.families import TYPES, USUAL, alike
from txcalc.sources.families.classes import Class, of_class, plain
from txcalc.sources.families.wrappers import WRAPPERS
from txcalc.sources.foreign import foreign
from txcalc.sources.other_files import other_file
from txcalc.sources.readers.config import Task, TaskHead, Tree

PLAUSIBLE = 0.85
"""How alike a type's name has to be to be meant: internvl is not meant by internlm."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A type, and of its class the name, the task and the head; ``class_`` is empty if not known.

    ``warnings`` say where the file and the type differ.
    """

    type_: str
    class_: str = ""
    task: Task
    head: TaskHead | None = None
    warnings: list[str] = []


def identify(tree: Tree, file: str, type_: str | None) -> Identity:
    """The type and class of a file; ``type_`` takes the place of those that are not known.

    Raises:
        DescriptionError: names that are none, or no type at all.
        RefusedError: a type or a class that is not known.
    """
    classes = tree.get("architectures")
    class_ = classes[0] if isinstance(classes, list) and classes else ""
    stated = tree.get("model_type") or None
    if not isinstance(class_, str) or not isinstance(stated, str | None):
        raise DescriptionError("model_type and architectures have to be names", where=file)
    if not stated and not class_:
        stated = foreign(tree)
    if not stated and not class_ and (other := other_file(tree)):
        raise DescriptionError(f"this is {other}", where=file)
    known = of_class(class_)
    model_type = stated or type_ or known.type_
    if model_type is None:
        raise DescriptionError(
            "neither model_type nor a known class in architectures; name the type with --type",
            where=file,
        )
    if type_ is not None:
        _check_type(type_, file)
        if model_type not in TYPES or (class_ and not _is_class_of(known, model_type)):
            return _replaced(tree, file, type_, model_type, class_)
    _check_type(model_type, file)
    if not class_:
        task = _task_of_flags(model_type, tree, file)
        return Identity(type_=model_type, task=task, warnings=_other_type(stated, type_, file))
    if known.task is None or not _is_class_of(known, model_type):
        raise _unknown_class(class_, known, model_type, file)
    warnings = _contradictions(model_type, class_, known.type_ or "", file)
    return Identity(
        type_=model_type, class_=class_, task=known.task, head=known.head,
        warnings=[*warnings, *_other_type(stated, type_, file)],
    )  # fmt: skip


def _check_type(type_: str, file: str) -> None:
    if type_ not in TYPES:
        meant = nearest(type_, list(TYPES), cutoff=PLAUSIBLE)
        raise RefusedError(f"{file}: unknown model_type {type_!r}{meant}")


def _unknown_class(class_: str, known: Class, type_: str, file: str) -> RefusedError:
    """The refusal of a class that is none of its type's, or whose task is not modelled."""
    hint = f"; --type {type_} counts the body and usual head of {type_!r} in its place"
    why = f"the class {class_!r} of type {type_!r} is not modelled"
    return RefusedError(f"{file}: {why}{hint if known.type_ is None else ''}")


def _is_class_of(known: Class, type_: str) -> bool:
    """Whether a type can have a class: bodies and task heads only those of a type described alike.

    Other classes of another known type are taken with a warning.
    """
    if known.task is None or known.type_ is None:
        return False
    same = alike(known.type_, type_) and USUAL[known.type_] == USUAL[type_]
    return known.task != "body" or same


def _replaced(tree: Tree, file: str, type_: str, model_type: str, class_: str) -> Identity:
    """The type given in place of one, or of a class, that is not known."""
    known = of_class(class_)
    task = known.task or _task_of_flags(type_, tree, file)
    warning = (
        f"{file}: counted as type {type_!r}, by --type, in place of model_type {model_type!r}"
        f"{f' and class {class_!r}' if class_ else ''}: what those have beyond it is not counted"
    )
    return Identity(type_=type_, task=task, head=known.head, warnings=[warning])


def _task_of_flags(type_: str, tree: Tree, file: str) -> Task:
    """What a file without a class is of; of a whole model around a text model, its usual class."""
    usual = USUAL[type_]
    for flag in ("is_encoder_decoder", "is_decoder"):
        if not isinstance(tree.get(flag), bool | None):
            raise DescriptionError("true or false is needed", where=f"{file}: {flag}")
    if tree.get("is_encoder_decoder"):
        return "conditional"
    if type_ in WRAPPERS:
        return usual
    if tree.get("is_decoder") or (usual == "conditional" and "is_encoder_decoder" in tree):
        return "causal"
    return usual


def _contradictions(model_type: str, class_: str, class_type: str, file: str) -> list[str]:
    """A warning where the class is another type's.

    Raises:
        DescriptionError: a class of encoders for a type of decoders.
    """
    if _agree(model_type, class_type):
        return []
    both = f"model_type {model_type!r} and class {class_!r}"
    if USUAL[class_type] != "causal" and USUAL[model_type] == "causal":
        raise DescriptionError(f"{both} contradict each other", where=file)
    return [f"{file}: {both} differ; it is counted as its model_type says"]


def _other_type(stated: str | None, type_: str | None, file: str) -> list[str]:
    """A warning where ``--type`` is another type than the file's."""
    if stated is None or type_ in (None, stated):
        return []
    return [f"{file}: its own model_type {stated!r} is taken, not --type {type_}"]


def _agree(a: str, b: str) -> bool:
    """Whether two types are one, described alike, or a whole model and its text model."""
    held = {WRAPPERS[x].text for x in (a, b) if x in WRAPPERS}
    alike_names = plain(a).startswith(plain(b)) or plain(b).startswith(plain(a))
    return alike(a, b) or alike_names or a in held or b in held
