"""What the name of a class says: the type that it is of, and what of a model it holds."""

from __future__ import annotations

from functools import cache

import msgspec

from txcalc.sources.families import TYPES
from txcalc.sources.readers.config import Task


class Ending(msgspec.Struct, frozen=True):
    """How the classes of a task end; ``types`` are the only ones whose classes do, if not all."""

    name: str
    task: Task
    types: tuple[str, ...] = ()


ENDINGS = (
    Ending("Decoder", "causal", ("bert-generation",)),
    Ending("Encoder", "body", ("bert-generation",)),
    Ending("MTModel", "conditional", ("marian",)),
    Ending("Model", "conditional", ("encoder-decoder",)),
    Ending("WithLMHeadModel", "conditional", ("t5",)),
    Ending(
        "EncoderModel", "body", ("longt5", "mt5", "switch_transformers", "t5", "t5gemma", "umt5")
    ),
    Ending("ForCausalLM", "causal"),
    Ending("ForConditionalGeneration", "conditional"),
    Ending("ForMaskedLM", "masked"),
    Ending("ForPreTraining", "masked"),
    Ending("ForSpeechSeq2Seq", "conditional"),
    Ending("ForTextToText", "conditional"),
    Ending("ModelWithLMHead", "causal"),
    Ending("WithLMHeadModel", "masked"),
    Ending("LMHeadModel", "causal"),
    Ending("Model", "body"),
)
"""Of those that fit, the first counts."""

OTHERWISE = {
    "hunyuandensev1": "hunyuan_v1_dense",
    "hunyuanmoev1": "hunyuan_v1_moe",
    "speech2text": "speech_to_text",
}
"""Class names without their ending, in lower case, of types that are called otherwise."""


def of_class(class_: str) -> tuple[str | None, Task | None]:
    """The type whose class this is, and its task; None for what no ending or no type fits."""
    for ending in ENDINGS:
        if class_.endswith(ending.name):
            type_ = _types().get(plain(class_.removesuffix(ending.name)))
            if type_ in ending.types or not ending.types:
                return type_, ending.task
    return None, None


def plain(name: str) -> str:
    """A name as types and classes share it: in lower case, without what joins words."""
    return name.lower().replace("_", "").replace("-", "")


@cache
def _types() -> dict[str, str]:
    return {plain(type_): type_ for type_ in TYPES} | OTHERWISE
