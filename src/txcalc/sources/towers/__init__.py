"""What stands beside text models: towers by the type of their config, and what joins them.

A tower is described by a function of its type, a whole model's towers by one of the whole's.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from txcalc.errors import DescriptionError, RefusedError
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import noted

_TOWERS = """
contrastive: altclip_vision_model=clip clip_vision_model=clip clipseg_vision_model=clip
contrastive: idefics2_vision=idefics idefics3_vision=idefics owlvit_vision_model=clip
contrastive: siglip2_vision_model=siglip2 siglip_vision_model=siglip smolvlm_vision=idefics
gemma: gemma4_vision=gemma4
merged: blip_2_vision_model=blip instructblip_vision_model=blip
merged: instructblipvideo_vision_model=blip minimax_m3_vl_vision=minimax
merged: paddleocr_vl_vision=paddle_siglip video_llama_3_vision=rotated_siglip
omni: qwen2_5_omni_audio_encoder=sound_2_5 qwen3_omni_moe_audio_encoder=sound_3
omni: qwen3_omni_moe_vision_encoder=vision_3
kimi: kimi_k25_vision=moonvit moonvit
llama: llama4_vision_model=llama4 mllama_vision_model=mllama
llava: pixtral
qwen: exaone4_5_vision=exaone4_5 glm4v_moe_vision=glm4v glm4v_vision=glm4v glm_ocr_vision=glm_ocr
qwen: qwen2_5_omni_vision_encoder=qwen2_5_vl qwen2_5_vl_vision=qwen2_5_vl qwen2_vl_vision=qwen2_vl
qwen: qwen3_5_moe_vision=qwen3_5 qwen3_5_vision=qwen3_5
qwen: qwen3_vl_moe_vision=qwen3_vl qwen3_vl_vision=qwen3_vl
sound: audioflamingo3_encoder=whisper data2vec-audio=data2vec_audio glmasr_encoder=glmasr hubert
sound: moss_transcribe_diarize_audio=whisper omniasr_audio=omniasr qwen2_audio_encoder=whisper
sound: unispeech=wav2vec2 voxtral_encoder=whisper voxtral_realtime_encoder=voxtral_realtime wav2vec2
vit: beit data2vec-vision=data2vec deit dinov2 dinov2_with_registers=dinov2 dinov3_vit=dinov3
vit: ijepa internvl_vision=internvl pixio qianfan_ocr_vision=internvl vit vit_msn
"""
_WHOLES = """
gemma: fuyu gemma4=gemma4_whole
merged: aya_vision blip-2=blip_2 cohere2_vision deepseek_vl hyperclovax_vision_v2=hyperclovax
merged: instructblip instructblipvideo=instructblip minimax_m3_vl=minimax_whole paddleocr_vl
merged: qianfan_ocr video_llama_3
omni: qwen2_5_omni_thinker=thinker_2_5 qwen3_omni_moe_thinker=thinker_3
kimi: kimi_k25=whole kimi_vl=whole
llama: llama4=llama4_whole mllama=mllama_whole
llava: gemma3 idefics3 internvl lfm2_vl llava llava_next llava_next_video=llava_next
llava: llava_onevision mistral3 paligemma smolvlm=idefics3
sound: audioflamingo3 glmasr=glmasr_whole moss_transcribe_diarize=moss musicflamingo=audioflamingo3
sound: omniasr=omniasr_whole qwen2_audio voxtral voxtral_realtime=voxtral
qwen: cosmos3_omni=qwen3_vl_whole exaone4_5=exaone4_5_whole glm46v=glm4v_whole glm4v=glm4v_whole
qwen: glm4v_moe=glm4v_whole glm_ocr=glm_ocr_whole qwen2_5_vl=qwen2_5_vl_whole
qwen: qwen2_vl=qwen2_vl_whole qwen3_5=qwen3_5_whole qwen3_5_moe=qwen3_5_whole
qwen: qwen3_vl=qwen3_vl_whole qwen3_vl_moe=qwen3_vl_whole
"""


def _functions(table: str) -> dict[str, str]:
    """Type -> ``file.function``."""
    lines = (line.split(": ") for line in table.split("\n") if line)
    words = ((file, *word.split("=")) for file, types in lines for word in types.split())
    return {type_: f"{file}.{(*name, type_)[0]}" for file, type_, *name in words}


TOWERS = _functions(_TOWERS)
"""Types of towers."""
WHOLES = _functions(_WHOLES)
"""Types of whole models."""


def function(place: str) -> Callable[..., Tree]:
    """A function of this package, its module imported only now."""
    module, _, name = place.partition(".")
    made: Callable[..., Tree] = getattr(import_module(f"{__name__}.{module}"), name)
    return made


def inner(c: Config, key: str, default: str) -> Config:
    """The object of a config that describes one side, by default of a type."""
    from txcalc.sources.towers.defaults import sizes

    side = c.inner(key) or c.absent(key)
    side.type = side.type or default
    side.usual = sizes(side.type)
    side.ignore("model_type", "architectures")
    return side


_ORDER = (
    "reads", "image", "sound", "d_model", "patch", "stem", "class_tokens", "registers", "blocks",
    "layers", "tensors", "pooler", "projector",
)  # fmt: skip
"""The fields of a tower as a description lists them."""


def ordered(tree: Tree) -> Tree:
    """The tower from what it reads to what it hands over."""
    return {name: tree[name] for name in _ORDER if name in tree}


def tower(c: Config, key: str, default: str) -> Tree:
    """The tower that an object of a config describes, by default of a type."""
    side = inner(c, key, default)
    if side.type not in TOWERS:
        c.unsupported(f"{key} of type {side.type!r}")
    return function(TOWERS[side.type])(side)


def described(c: Config, type_: str) -> Tree:
    """The tower that a whole config describes."""
    from txcalc.sources.towers.defaults import sizes

    c.usual = sizes(type_)
    return function(TOWERS[type_])(c)


def with_towers(tree: Tree, c: Config, type_: str) -> Tree:
    """The description of a text model with the towers beside it, or why they are left out."""
    if tree.get("scope") != "text" or "towers" in tree:
        return tree
    try:
        if type_ not in WHOLES:
            c.unsupported(f"what stands beside the text model of type {type_!r}")
        made = function(WHOLES[type_])(c, tree["d_model"])
        towers = {name: ordered(tower) for name, tower in made.items()}
    except (RefusedError, DescriptionError) as refusal:
        return tree | {"left_out": str(refusal)}
    beside = f"beside it: {', '.join(towers)}, and what joins it (params.whole)"
    notes = [note for note in tree.get("notes", []) if not note.startswith("left out: what")]
    return noted(tree | {"towers": towers, "notes": notes}, beside)
