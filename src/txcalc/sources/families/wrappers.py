"""The types that wrap a text model of another type, which their ``text_config`` describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from txcalc.sources.readers.config import Task

Head = Literal["tied", "untied", "either", "both", "text", "never"]
"""When the head is tied: as the whole's flag says, by default ``tied`` or ``untied``; where
``either`` flag, the whole's or the text model's, says so; unless ``both`` say not; as the
``text`` model's flag says; or ``never``."""


class Wrapper(msgspec.Struct, frozen=True):
    """How a whole model holds its text model."""

    head: Head
    text: str = ""
    """The text model's type where the file names none, or whatever it names if ``fixed``."""
    fixed: bool = False
    task: Task = "conditional"
    """What the class usually counts."""
    gives: Mapping[str, int] = {}
    """What the whole gives its text model where the file leaves it out."""
    flat: bool = False
    """Whether older files have the text model's keys among their own."""
    own_class: str = ""
    """The whole's class where its name ends as a text model's does."""


_QWEN2_AUDIO = {
    "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
    "num_attention_heads": 32,
}  # fmt: skip
_VOXTRAL = {
    "vocab_size": 131072, "hidden_size": 3072, "intermediate_size": 8192,
    "num_hidden_layers": 30, "num_attention_heads": 32, "num_key_value_heads": 8,
    "head_dim": 128, "max_position_embeddings": 131072,
}  # fmt: skip
_VOXTRAL_REALTIME = _VOXTRAL | {
    "intermediate_size": 9216, "num_hidden_layers": 26, "sliding_window": 8192,
}  # fmt: skip

WRAPPERS = {
    "apertus1p5": Wrapper("untied", "apertus1p5_text", fixed=True),
    "aria": Wrapper("untied", "aria_text", fixed=True),
    "audioflamingo3": Wrapper("never", "qwen2"),
    "aya_vision": Wrapper("tied", "cohere2"),
    "blip-2": Wrapper("text", "opt"),
    "cohere2_vision": Wrapper("tied", "cohere2"),
    "cosmos3_omni": Wrapper("untied", "qwen3_vl_text"),
    "deepseek_vl": Wrapper("tied", "llama"),
    "deepseek_vl_hybrid": Wrapper("tied", "llama"),
    "emu3": Wrapper("untied", "emu3_text_model", fixed=True),
    "exaone4_5": Wrapper("untied", "exaone4"),
    "fast_vlm": Wrapper("either", "qwen2"),
    "fun_asr_nano": Wrapper("tied", "qwen3"),
    "fuyu": Wrapper("untied", "persimmon", task="causal", flat=True, own_class="FuyuForCausalLM"),
    "gemma3": Wrapper("tied", task="causal"),
    "gemma3n": Wrapper("tied", task="causal"),
    "gemma4": Wrapper("tied", task="causal"),
    "gemma4_unified": Wrapper("tied", task="causal"),
    "glm46v": Wrapper("untied", "glm4v_text"),
    "glm4v": Wrapper("either", "glm4v_text", fixed=True),
    "glm4v_moe": Wrapper("untied", "glm4v_moe_text"),
    "glm5_next": Wrapper("untied", "glm5_next_text", fixed=True),
    "glm_ocr": Wrapper("either", "glm_ocr_text", fixed=True),
    "glmasr": Wrapper("tied", "llama"),
    "got_ocr2": Wrapper("tied", "qwen2"),
    "granite_speech": Wrapper("tied", "granite"),
    "granite_speech_plus": Wrapper("tied", "granite"),
    "hy_v4_vl": Wrapper("untied", "hy_v4_vl_text", fixed=True),
    "hyperclovax_vision_v2": Wrapper("tied", "hyperclovax"),
    "idefics2": Wrapper("untied", "mistral"),
    "idefics3": Wrapper("untied", "llama"),
    "inkling2": Wrapper("text", "inkling2_text", fixed=True),
    "inkling2_loop": Wrapper("text", "inkling2_loop_text", fixed=True),
    "inkling_mm_model": Wrapper("text", "inkling_text", fixed=True),
    "instructblip": Wrapper("text", "opt"),
    "instructblipvideo": Wrapper("text", "opt"),
    "internvl": Wrapper("tied", "qwen2"),
    "janus": Wrapper("tied", "llama"),
    "lfm2_vl": Wrapper("tied", "lfm2"),
    "lfm3_vl": Wrapper("tied", "lfm3"),
    "lighton_ocr": Wrapper("tied", "qwen3"),
    "llama4": Wrapper("text", "llama4_text", fixed=True),
    "llava": Wrapper("either", "llama"),
    "llava_next": Wrapper("untied", "llama"),
    "llava_next_video": Wrapper("either", "llama"),
    "llava_onevision": Wrapper("either", "qwen2"),
    "minimax_m3_vl": Wrapper("either", "minimax_m3_vl_text", fixed=True),
    "mistral3": Wrapper("tied", "mistral"),
    "mllama": Wrapper("text", "mllama_text_model", fixed=True),
    "moss_transcribe_diarize": Wrapper("tied", "qwen3"),
    "musicflamingo": Wrapper("never", "qwen2"),
    "nemo_speechlm": Wrapper("never", "nemotron_h"),
    "omniasr": Wrapper("never", "llama"),
    "paddleocr_vl": Wrapper("both", "paddleocr_vl_text", fixed=True),
    "paligemma": Wrapper("tied", "gemma"),
    "qianfan_ocr": Wrapper("untied", "qwen3"),
    "qwen2_5_omni_thinker": Wrapper("untied", "qwen2_5_omni_text", fixed=True),
    "qwen2_5_vl": Wrapper("either", "qwen2_5_vl_text", fixed=True, flat=True),
    "qwen2_audio": Wrapper("never", "qwen2", gives=_QWEN2_AUDIO),
    "qwen2_vl": Wrapper("either", "qwen2_vl_text", fixed=True, flat=True),
    "qwen3_asr": Wrapper("tied", "qwen3"),
    "qwen3_omni_moe_thinker": Wrapper("untied", "qwen3_omni_moe_text", fixed=True),
    "qwen3_vl": Wrapper("untied", "qwen3_vl_text", fixed=True),
    "qwen3_vl_moe": Wrapper("untied", "qwen3_vl_moe_text", fixed=True),
    "smolvlm": Wrapper("untied", "llama"),
    "vibevoice": Wrapper("untied", "qwen2"),
    "vibevoice_asr": Wrapper("never", "qwen2"),
    "video_llama_3": Wrapper("either", "qwen2"),
    "video_llava": Wrapper("untied", "llama"),
    "vipllava": Wrapper("untied", "llama"),
    "voxtral": Wrapper("never", "llama", gives=_VOXTRAL),
    "voxtral_realtime": Wrapper("tied", "voxtral_realtime_text", gives=_VOXTRAL_REALTIME),
}
