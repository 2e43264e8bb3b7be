"""What the name of a class says: the type that it is of, and what of a model it holds."""

from __future__ import annotations

from functools import cache

import msgspec

from txcalc.sources.families import TYPES
from txcalc.sources.readers.config import Task, TaskHead


class Ending(msgspec.Struct, frozen=True):
    """How the classes of a task end; ``types`` are the only ones whose classes do, if not all.

    Without a task, those classes have a beam search of their own, which is not modelled.
    """

    name: str
    task: Task | None
    types: tuple[str, ...] = ()
    head: TaskHead | None = None


class Class(msgspec.Struct, frozen=True):
    """The type whose class a name is, its task, and its head; None for what is not known."""

    type_: str | None = None
    task: Task | None = None
    head: TaskHead | None = None


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
    Ending("ForMultipleChoice", "body", head="choice"),
    Ending("ForNextSentencePrediction", "body", head="next_sentence"),
    Ending("ForPreTraining", "masked"),
    Ending("ForProcessRewardModel", "body", ("qwen2",), head="process_reward"),
    Ending("ForQuestionAnswering", None, ("flaubert", "xlm", "xlnet")),
    Ending("ForQuestionAnswering", "body", head="span"),
    Ending("ForQuestionAnsweringSimple", "body", ("flaubert", "xlm", "xlnet"), head="span"),
    Ending("ForRewardModel", "body", ("internlm2", "qwen2"), head="reward"),
    Ending("ForSequenceClassification", "body", head="sequence"),
    Ending("ForSpeechSeq2Seq", "conditional"),
    Ending("ForTextToText", "conditional"),
    Ending("ForTokenClassification", "body", head="tokens"),
    Ending("ModelWithLMHead", "causal"),
    Ending("WithLMHeadModel", "masked"),
    Ending("LMHeadCustomModel", "causal", ("gpt2",)),
    Ending("LMHeadModel", "causal"),
    Ending("ModelLM", "masked", ("llada",)),
    Ending("Model", "body"),
)
"""Of those that fit, the first counts."""

OTHERWISE = {
    "bailingmoev2": "bailing_moe_v2",
    "hunyuandensev1": "hunyuan_v1_dense",
    "hunyuanmoev1": "hunyuan_v1_moe",
    "inkling": "inkling_text",
    "pixtralvision": "pixtral",
    "nemotron35transcribe": "nemo_speechlm",
    "rw": "RefinedWeb",
    "speech2text": "speech_to_text",
}
"""Class names without their ending, in lower case, of types that are called otherwise."""


def of_class(class_: str) -> Class:
    """What the name of a class says, as far as an ending and a type fit."""
    for ending in ENDINGS:
        if class_.endswith(ending.name):
            type_ = _types().get(plain(class_.removesuffix(ending.name)))
            if type_ in ending.types or not ending.types:
                return Class(type_, ending.task, ending.head)
    return Class()


def plain(name: str) -> str:
    """A name as types and classes share it: in lower case, without what joins words."""
    return name.lower().replace("_", "").replace("-", "")


@cache
def _types() -> dict[str, str]:
    shorter = {plain(type_.removesuffix("_model")): type_ for type_ in TYPES}
    return shorter | {plain(type_): type_ for type_ in TYPES} | OTHERWISE
