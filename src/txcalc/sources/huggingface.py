"""From anybody's config.json to the description it means."""

from __future__ import annotations

import os

from txcalc.errors import DescriptionError, RefusedError, nearest
from txcalc.sources.edits import unshared
from txcalc.sources.families import CLASSES, TYPES, family
from txcalc.sources.files import read_bytes
from txcalc.sources.harmless import is_harmless
from txcalc.sources.json import parse
from txcalc.sources.readers.config import Config, Task, Tree

MAX_BYTES = 4_000_000
_ENDINGS: dict[str, Task] = {
    "ForCausalLM": "causal",
    "LMHeadModel": "causal",
    "ForMaskedLM": "masked",
    "ForPreTraining": "masked",
    "WithLMHeadModel": "masked",
    "ForConditionalGeneration": "conditional",
    "ForSpeechSeq2Seq": "conditional",
    "ForTextToText": "conditional",
    "ModelWithLMHead": "causal",
    "Model": "body",
}
_WHOLE: dict[str, tuple[str, Task]] = {
    "BertGenerationDecoder": ("bert-generation", "causal"),
    "BertGenerationEncoder": ("bert-generation", "body"),
    "EncoderDecoderModel": ("encoder-decoder", "conditional"),
    "LongT5EncoderModel": ("longt5", "body"),
    "MarianMTModel": ("marian", "conditional"),
    "MT5EncoderModel": ("mt5", "body"),
    "SwitchTransformersEncoderModel": ("switch_transformers", "body"),
    "T5EncoderModel": ("t5", "body"),
    "T5GemmaEncoderModel": ("t5gemma", "body"),
    "T5WithLMHeadModel": ("t5", "conditional"),
    "UMT5EncoderModel": ("umt5", "body"),
}
"""Classes whose ending means nothing elsewhere: their type and what they count."""


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
    usual = TYPES[model_type].partition(":")[2]
    task = _task(class_, tree, file, usual or "causal")
    if task == "body" and TYPES.get(_type_of(class_) or "") != TYPES[model_type]:
        raise RefusedError(f"{file}: the class {class_!r} of type {model_type!r} is not modelled")
    config = Config(tree, file, task, type_=model_type)
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
    count = (described.get("layers") or described["encoder"])["count"]
    unread = _unread(config, count, file, strict=strict)
    return unshared(described), file, [*_contradictions(model_type, class_, type_, file), *unread]


def _identify(tree: Tree, file: str, type_: str | None) -> tuple[str, str]:
    """The model's type and class."""
    classes = tree.get("architectures")
    class_ = classes[0] if isinstance(classes, list) and classes else ""
    model_type = tree.get("model_type") or type_
    if not isinstance(class_, str) or not isinstance(model_type, str | None):
        raise DescriptionError("model_type and architectures have to be names", where=file)
    model_type = model_type or _type_of(class_)
    if model_type is None:
        raise DescriptionError(
            "neither model_type nor a known class in architectures; name the type with --type",
            where=file,
        )
    return model_type, class_


def _contradictions(model_type: str, class_: str, type_: str | None, file: str) -> list[str]:
    """Warnings where the class or ``--type`` is another type's.

    Raises:
        DescriptionError: a class of encoders for a type of decoders.
    """
    of_class = _type_of(class_)
    found = []
    if of_class and not _are_kin(model_type, of_class):
        said = f"model_type {model_type!r} and class {class_!r}"
        if ":" in TYPES[of_class] and ":" not in TYPES[model_type]:
            raise DescriptionError(f"{said} contradict each other", where=file)
        found.append(f"{file}: {said} differ; it is counted as its model_type says")
    if type_ and type_ != model_type:
        found.append(f"{file}: its own model_type {model_type!r} is taken, not --type {type_}")
    return found


def _are_kin(a: str, b: str) -> bool:
    """Whether two types are one, read alike, or a whole model and its text model."""
    alike = TYPES.get(a, a).partition(":")[0] == TYPES.get(b, b).partition(":")[0]
    return alike or _plain(a).startswith(_plain(b)) or _plain(b).startswith(_plain(a))


def _type_of(class_: str) -> str | None:
    """The type whose class this is, by its name without the ending."""
    if class_ in _WHOLE:
        return _WHOLE[class_][0]
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if class_.endswith(ending):
            stem = _plain(class_.removesuffix(ending))
            known = {_plain(type_): type_ for type_ in TYPES} | CLASSES
            return known.get(stem)
    return None


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _task(class_: str, tree: Tree, file: str, usual: str) -> Task:
    """What the class counts; without a class, what the flags say, else the type's usual one."""
    if class_ in _WHOLE:
        return _WHOLE[class_][1]
    if class_:
        for ending in sorted(_ENDINGS, key=len, reverse=True):
            if class_.endswith(ending):
                return _ENDINGS[ending]
        raise RefusedError(f"{file}: the class {class_!r} is not modelled")
    for flag in ("is_encoder_decoder", "is_decoder"):
        if not isinstance(tree.get(flag), bool | None):
            raise DescriptionError("true or false is needed", where=f"{file}: {flag}")
    if tree.get("is_encoder_decoder"):
        return "conditional"
    if tree.get("is_decoder") or (usual == "conditional" and "is_encoder_decoder" in tree):
        return "causal"
    return next(task for task in _ENDINGS.values() if task == usual)


def _overridden(config: Config) -> bool:
    """Whether layers have configs of their own that the family did not read."""
    unread = [path for path in config.unread() if path.endswith("per_layer_config")]
    return any(path != "per_layer_config" or config.raw(path) for path in unread)


def _unread(config: Config, count: int, file: str, *, strict: bool) -> list[str]:
    """One warning about keys that neither the family nor anybody else knows."""
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
