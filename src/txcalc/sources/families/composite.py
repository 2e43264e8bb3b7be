"""Models with towers for images, sound or video: the text model alone is described."""

from __future__ import annotations

from collections.abc import Callable

from txcalc.sources.families import TYPES, USUAL, family
from txcalc.sources.families.defaults import class_sizes
from txcalc.sources.families.wrappers import WRAPPERS, Wrapper
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import noted, untied

_TOWERS = ("vision", "audio", "vq", "speech", "encoder", "projector", "perceiver", "qformer",
           "adaptor", "acoustic_tokenizer_encoder", "semantic_tokenizer_encoder", "semantic_model",
           "diffusion_head", "word_timestamp")  # fmt: skip
_BESIDE = ("merged_", "image_", "video_", "audio_", "vision_", "vq_", "projector_",
           "multimodal_", "spatial_", "num_channels", "num_query_tokens", "projection_dim",
           "use_decoder_only_language_model", "patch_size", "mm_",
           "vocabulary_map", "downsample_", "default_num_delay", "has_lora_adapter",
           "acoustic_tokenizer_chunk", "token_classification")  # fmt: skip


def whole(c: Config, wrapper: Wrapper | None = None) -> Tree:
    """The text model of a whole; a class of the text model alone is tied as that one is."""
    wrapper = wrapper or WRAPPERS[c.type]
    text = c if wrapper.flat and not c.has("text_config") else c.needed("text_config")
    text.assume(**wrapper.gives)
    tree = _described(c, text, wrapper)
    own_class = c.task == "conditional" or (c.class_ != "" and c.class_ == wrapper.own_class)
    tree = _headed(c, tree, wrapper, own_class=own_class)
    c.ignore_all(*_BESIDE)
    towers = [name for tower in _TOWERS if c.has(name := f"{tower}_config")]
    c.ignore(*towers)
    left_out = f"left out: what {', '.join(towers) or 'no key'} describes, and what joins it"
    return noted(tree | {"scope": "text"}, left_out)


def _described(c: Config, text: Config, wrapper: Wrapper) -> Tree:
    named = text.type if text is not c else ""
    type_ = wrapper.text if wrapper.fixed else named or wrapper.text
    if type_ not in TYPES:
        c.unsupported(f"a text model of type {type_!r}")
    text.type = type_
    if text.task == "conditional" and USUAL[type_] != "conditional":
        text.task = "causal"
    if text is not c:
        text.usual = class_sizes(type_)
    text.ignore("model_type", "architectures")
    tree = family(type_)(text)
    sizes = ", ".join(f"{key} {size:,}" for key, size in text.assumed.items())
    return noted(tree, f"left out of the file, so by the class: {sizes}" if sizes else None)


def _headed(c: Config, tree: Tree, wrapper: Wrapper, *, own_class: bool) -> Tree:
    """The same with its head tied as the flag says that counts."""
    if wrapper.head == "never":
        c.ignore("tie_word_embeddings")
        return untied(tree)
    if wrapper.head == "text" or "head" not in tree or not own_class:
        return tree
    tied = c.flag("tie_word_embeddings", default=wrapper.head in ("tied", "both"))
    if wrapper.head in ("either", "both"):
        tied = tied or tree["head"]["tied"]
    return tree | {"head": tree["head"] | {"tied": tied}}


def text_model(
    c: Config, build: Callable[[Config], Tree], left_out: str, *, tied: bool | None
) -> Tree:
    """The text model of a family's own whole, tied as the whole says (``tied``: its default).

    With None the text model's flag counts.
    """
    text = c.needed("text_config")
    text.ignore("model_type", "architectures")
    c.ignore("vision_config", "audio_config")
    tree = build(text)
    if "head" in tree and tied is not None:
        tree["head"]["tied"] = c.flag("tie_word_embeddings", default=tied)
    return noted(tree | {"scope": "text"}, f"left out: {left_out}")
