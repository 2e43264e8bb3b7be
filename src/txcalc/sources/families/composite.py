"""Models with towers for images, sound or video: the text model alone is described.

Who decides about the head's tying differs: the whole model's flag, which has a default of its own,
or the text model's.
"""

from __future__ import annotations

from txcalc.sources.families import TYPES, family
from txcalc.sources.readers.config import Config, Tree

TEXTS = {
    "apertus1p5": "apertus1p5_text",
    "aria": "aria_text",
    "emu3": "emu3_text_model",
    "glm4v": "glm4v_text",
    "glm_ocr": "glm_ocr_text",
    "glm5_next": "glm5_next_text",
    "hy_v4_vl": "hy_v4_vl_text",
    "inkling2": "inkling2_text",
    "inkling2_loop": "inkling2_loop_text",
    "inkling_mm_model": "inkling_text",
    "llama4": "llama4_text",
    "minimax_m3_vl": "minimax_m3_vl_text",
    "mllama": "mllama_text_model",
    "paddleocr_vl": "paddleocr_vl_text",
    "qwen2_5_omni_thinker": "qwen2_5_omni_text",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen2_vl": "qwen2_vl_text",
    "qwen3_omni_moe_thinker": "qwen3_omni_moe_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
}
"""The text model's type where the whole one allows no other."""

USUAL = {
    "audioflamingo3": "qwen2",
    "aya_vision": "cohere2",
    "blip-2": "opt",
    "cohere2_vision": "cohere2",
    "cosmos3_omni": "qwen3_vl_text",
    "deepseek_vl": "llama",
    "deepseek_vl_hybrid": "llama",
    "exaone4_5": "exaone4",
    "fast_vlm": "qwen2",
    "fun_asr_nano": "qwen3",
    "fuyu": "persimmon",
    "glm46v": "glm4v_text",
    "glm4v_moe": "glm4v_moe_text",
    "glmasr": "llama",
    "got_ocr2": "qwen2",
    "granite_speech": "granite",
    "granite_speech_plus": "granite",
    "hyperclovax_vision_v2": "hyperclovax",
    "idefics2": "mistral",
    "idefics3": "llama",
    "instructblip": "opt",
    "instructblipvideo": "opt",
    "internvl": "qwen2",
    "janus": "llama",
    "lfm2_vl": "lfm2",
    "lfm3_vl": "lfm3",
    "lighton_ocr": "qwen3",
    "llava": "llama",
    "llava_next": "llama",
    "llava_next_video": "llama",
    "llava_onevision": "qwen2",
    "mistral3": "mistral",
    "moss_transcribe_diarize": "qwen3",
    "musicflamingo": "qwen2",
    "nemo_speechlm": "nemotron_h",
    "omniasr": "llama",
    "paligemma": "gemma",
    "qianfan_ocr": "qwen3",
    "qwen2_audio": "qwen2",
    "qwen3_asr": "qwen3",
    "smolvlm": "llama",
    "vibevoice": "qwen2",
    "vibevoice_asr": "qwen2",
    "video_llama_3": "qwen2",
    "video_llava": "llama",
    "vipllava": "llama",
    "voxtral": "llama",
    "voxtral_realtime": "voxtral_realtime_text",
}
"""The text model's type where the file names none."""

GIVEN = {
    "qwen2_audio": {
        "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
        "num_attention_heads": 32,
    },
    "voxtral": {
        "vocab_size": 131072, "hidden_size": 3072, "intermediate_size": 8192,
        "num_hidden_layers": 30, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 128, "max_position_embeddings": 131072,
    },
    "voxtral_realtime": {
        "vocab_size": 131072, "hidden_size": 3072, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 128, "max_position_embeddings": 131072, "sliding_window": 8192,
    },
}  # fmt: skip
"""What the whole gives its text model where the file leaves it out."""

LEFT_OUT = {
    "llama": {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32,
    },
    "mistral": {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32,
    },
    "qwen2": {
        "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32,
    },
}  # fmt: skip
"""Sizes of the text models whose configs were long saved as differences from these."""

FLAT = ("fuyu", "qwen2_5_vl", "qwen2_vl")
"""Types whose older files have the text model's keys among their own."""

CAUSAL = {"fuyu": "FuyuForCausalLM"}
"""Types whose own class is called as a text model's class is."""

_TOWERS = ("vision", "audio", "vq", "speech", "encoder", "projector", "perceiver", "qformer",
           "adaptor", "acoustic_tokenizer_encoder", "semantic_tokenizer_encoder", "semantic_model",
           "diffusion_head", "word_timestamp")  # fmt: skip
_BESIDE = ("merged_", "image_", "video_", "audio_", "vision_", "vq_", "projector_",
           "multimodal_", "spatial_", "num_channels", "patch_size", "mm_",
           "vocabulary_map", "downsample_", "default_num_delay", "has_lora_adapter",
           "acoustic_tokenizer_chunk", "token_classification")  # fmt: skip


def tied(c: Config) -> Tree:
    """A type whose head is tied unless the whole model's flag says otherwise."""
    return _text(c, default=True)


def untied(c: Config) -> Tree:
    """A type whose head is tied only where the whole model's flag says so."""
    return _text(c, default=False)


def either(c: Config) -> Tree:
    """A type whose head is tied where one of both flags says so."""
    return _text(c, default=False, forwarded=True)


def tied_or_own(c: Config) -> Tree:
    """A type whose head is untied only where both flags say so."""
    return _text(c, default=True, forwarded=True)


def own(c: Config) -> Tree:
    """A type that leaves its text model's own flag to decide."""
    return _text(c, default=None)


def never(c: Config) -> Tree:
    """A type whose head has a weight of its own, whatever the flags say."""
    c.ignore("tie_word_embeddings")
    tree = _text(c, default=None)
    return tree | ({"head": tree["head"] | {"tied": False}} if "head" in tree else {})


def _text(c: Config, *, default: bool | None, forwarded: bool = False) -> Tree:
    """The text model's description; a class of the text model alone decides as that one does."""
    flat = c.type in FLAT and not c.has("text_config")
    text = c if flat else c.needed("text_config")
    text.assume(**GIVEN.get(c.type, {}))
    if c.task == "conditional":
        text.task = "causal"
    tree = _described(c, text)
    whole = c.task == "conditional" or c.words("architectures") == [CAUSAL.get(c.type)]
    if default is not None and whole and "head" in tree:
        stated = c.flag("tie_word_embeddings", default=default)
        tree["head"]["tied"] = stated or (forwarded and tree["head"]["tied"])
    c.ignore_all(*_BESIDE)
    towers = [name for tower in _TOWERS if c.has(name := f"{tower}_config")]
    c.ignore(*towers)
    left_out = f"left out: what {', '.join(towers) or 'no key'} describes, and what joins it"
    return tree | {"scope": "text", "notes": [*tree.get("notes", []), left_out]}


def _described(c: Config, text: Config) -> Tree:
    named = text.type if text is not c else ""
    type_ = TEXTS.get(c.type) or named or USUAL.get(c.type, "")
    if type_ not in TYPES:
        c.unsupported(f"a text model of type {type_!r}")
    text.type = type_
    if text is not c:
        text.assume(**LEFT_OUT.get(type_, {}))
    text.ignore("model_type", "architectures")
    return family(type_)(text)
