"""What each Hugging Face model type means: one file a lineage, one short function a family."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from txcalc.sources.families.positions import rotated
from txcalc.sources.families.wrappers import WRAPPERS
from txcalc.sources.readers.config import Config, Task, Tree
from txcalc.sources.towers import TOWERS

_CAUSAL = """
bailing: bailing_moe bailing_moe_v2=bailing_moe
bart: trocr
bert: bert-generation git
bloom: bloom mpt
blt: blt
chatglm: chatglm
cohere: cohere cohere2 cohere2_moe
deepseek: axk1 axk2 deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 kimi_k2=deepseek_v3
deepseek: deepseek sarvam_mla
dense: apertus apertus1p5_text=apertus bitnet doge helium jais2 minicpm3 moshi nanochat persimmon
dense: baichuan minicpm telechat yuan
dense: seed_oss stablelm starcoder2 youtu
dots: dots1 dots3_note dots3_note_text=dots3_text
ernie: ernie4_5 ernie4_5_moe paddleocr_vl_text=ernie4_5
exaone: exaone exaone4 exaone_moe
formats: deepseek-inference mamba-ssm meta-params=meta mistral-params nanogpt
falcon: RefinedWeb=falcon RefinedWebModel=falcon falcon falcon_h1
gemma: gemma gemma2 gemma3_text=gemma3 gemma3n_text=gemma3n vaultgemma
gemma4: gemma4_text=gemma4 gemma4_unified_assistant=assistant gemma4_unified_text=unified
glm: glm glm4 glm4_moe glm4_moe_lite glm4v_moe_text glm4v_text=glm4v glm5_next_text=glm5_next
glm: glm_moe_dsa glm_ocr_text=glm_ocr sarvam_moe solar_open
gpt: codegen=gptj ctrl gpt-sw3=gpt2 gpt2 gpt_bigcode gpt_neo gpt_neox gpt_neox_japanese gptj
gpt: mixformer-sequential=mixformer openai-gpt=openai_gpt phi-msft=mixformer
granite: granite granite_swa granitemoe granitemoe_swa granitemoehybrid granitemoeshared
granite: hyperclovax
hunyuan: hunyuan_v1_dense hunyuan_v1_moe hy_v3 hy_v4 hy_v4_vl_text=hy_v4_vl
inkling: inkling2_loop_text inkling2_text inkling_text
kimi: bailing_hybrid kimi_linear
lfm: lfm2 lfm2_moe lfm3
llama: arcee cwm diffllama emu3_text_model=emu3 internlm3 iquestcoder llama llama4_text
llama: Yi=llama internlm internlm2=internlm mllama_text_model=mllama smollm3
longformer: reformer
looped: dory hrm_text
mamba: bamba falcon_mamba=mamba jamba mamba mamba2
minimax: minimax minimax_m1=minimax_text_01 minimax_m2 minimax_m3_vl_text=minimax_m3
minimax: minimax_m3 minimax_text_01
mistral: ministral ministral3 mistral mixtral voxtral_realtime_text=voxtral_realtime
modernbert: modernbert-decoder
moe: aria_text dbrx jetmoe longcat_flash zaya
musicgen: musicgen_decoder=musicgen musicgen_melody_decoder=musicgen_melody
nemotron: nemotron nemotron_h
olmo: flex_olmo olmo olmo2 olmo3 olmo_hybrid olmoe
opt: biogpt cpmant opt xglm
phi: phi phi3 phi4_multimodal phimoe
qwen: mimo qwen
qwen: kolibri1 lara_mini mellum qwen2 qwen2_5_omni_text=qwen2_5_omni qwen2_5_vl_text=qwen2_vl
qwen: qwen2_moe qwen2_vl_text=qwen2_vl qwen3 qwen3_moe qwen3_omni_moe_text qwen3_vl_moe_text
qwen: qwen3_vl_text=qwen3_vl
qwen4: qwen4_exp qwen4_exp_text
qwen_next: qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen3_next
recurrent: recurrent_gemma rwkv xlstm
windowed_moe: afmoe beam flint gpt_oss laguna mimo_v2_flash
xlnet: xlnet
zamba: zamba zamba2
"""
_MASKED = """
bert: bert big_bird camembert=roberta data2vec-text=roberta distilbert ernie ibert layoutlm luke
bert: megatron-bert mpnet roberta roberta-prelayernorm tapas xlm-roberta=roberta xlm-roberta-xl
bert: xmod
deberta: deberta deberta-v2
diffusion: Dream=dream llada
electra: albert electra rembert roc_bert roformer
esm: esm esmc
longformer: fnet longformer mra nystromformer yoso
mobilebert: convbert mobilebert squeezebert
modernbert: eurobert gte jina_embeddings_v3=jina_v3 modernbert modernvbert neomme new=gte
modernbert: nomic_bert ultrabert ultravbert
perceiver: perceiver
xlnet: flaubert=xlm funnel xlm
"""
_CONDITIONAL = """
bart: bart bigbird_pegasus blenderbot=pegasus blenderbot-small led mbart mvp pegasus pegasus_x
bart: plbart=bart prophetnet
composite: internvl_chat=chat qwen2_5_omni=omni qwen3_omni_moe=omni
encoder_decoder: encoder-decoder
kimi: kimi_k25
musicgen: musicgen musicgen_melody
speech: moonshine speech_to_text whisper
t5: longt5 mt5 switch_transformers t5 umt5
t5gemma: t5gemma t5gemma2
translation: fsmt m2m_100=m2m marian nllb-moe seamless_m4t=seamless seamless_m4t_v2=seamless
"""
_BODY = """
pairs: clip clipseg owlvit siglip siglip2
"""
"""The types that each file describes, by what their class usually counts.

A type's function has its name, or the one that stands behind ``=``.
"""


def _functions(table: str) -> dict[str, str]:
    """model_type -> ``file.function``."""
    lines = (line.split(": ") for line in table.split("\n") if line)
    words = ((file, *word.split("=")) for file, types in lines for word in types.split())
    return {type_: f"{file}.{(*name, type_.replace('-', '_'))[0]}" for file, type_, *name in words}


_TABLES: dict[Task, dict[str, str]] = {
    "causal": _functions(_CAUSAL),
    "masked": _functions(_MASKED),
    "conditional": _functions(_CONDITIONAL),
    "body": _functions(_BODY) | dict.fromkeys(TOWERS, "alone.tower"),
}

TYPES = {
    **{type_: function for table in _TABLES.values() for type_, function in table.items()},
    **dict.fromkeys(WRAPPERS, "composite.whole"),
}
"""model_type -> ``file.function`` of every type that is known."""

USUAL: dict[str, Task] = {
    **{type_: task for task, table in _TABLES.items() for type_ in table},
    **{type_: wrapper.task for type_, wrapper in WRAPPERS.items()},
}
"""model_type -> what its class usually counts."""


def family(type_: str) -> Callable[[Config], Tree]:
    """From a config of a type to its description; the family's module is imported only now."""
    module, _, name = TYPES[type_].partition(".")
    function: Callable[[Config], Tree] = getattr(import_module(f"{__name__}.{module}"), name)
    return lambda config: rotated(config, type_, function(config))


def alike(a: str, b: str) -> bool:
    """Whether one function describes both types, and ties their heads by the same flag."""
    heads = [WRAPPERS[type_].head if type_ in WRAPPERS else None for type_ in (a, b)]
    return TYPES[a] == TYPES[b] and heads[0] == heads[1]
