"""The sizes that text models have by their classes, where a text_config leaves them out.

Configs within a whole model's were long saved as differences from their class's defaults.  Facts:
the configuration classes of transformers 5.24.0.
"""

from __future__ import annotations

_KEYS = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
         "num_attention_heads", "max_position_embeddings")  # fmt: skip
_SIZES = """
afmoe 200192 2048 6144 32 16 16384 moe_intermediate_size=1408 num_experts=64
apertus 131072 4096 14336 32 32 65536
apertus1p5_text 266752 4096 14336 32 32 65536
arcee 32000 2560 18432 32 32 4096
aria_text 32000 4096 4096 32 32 2048 moe_num_experts=8
bamba 128000 4096 14336 32 32 262144
beam 151936 5120 20480 52 48 8192 moe_intermediate_size=2560 num_experts=256
biogpt 42384 1024 4096 24 16 1024
bitnet 128256 2560 6912 30 20 2048
cohere 256000 8192 22528 40 64 8192
cohere2 256000 8192 22528 40 64 8192
cohere2_moe 256000 8192 22528 40 64 8192 num_experts=8
cpmant 30720 4096 - 48 32 - dim_head=128 dim_ff=10240
cwm 128256 6144 21504 64 48 131072
diffllama 32000 2048 8192 16 32 2048
doge 32768 1024 2048 32 8 2048
dory 131072 2560 7168 72 16 8192
dots1 152064 4608 - 62 32 2048 moe_intermediate_size=1408 n_shared_experts=2 n_routed_experts=128
ernie4_5 103424 1024 3072 18 16 131072
ernie4_5_moe 103424 2560 12288 28 20 131072 moe_intermediate_size=1536 moe_num_experts=64
exaone 102400 4096 14336 32 32 4096
exaone4 102400 4096 16384 32 32 2048
exaone_moe 102400 4096 16384 32 32 2048 moe_intermediate_size=1024 num_experts=64
falcon 65024 4544 - 32 71 2048
falcon_h1 128000 4096 14336 32 32 8192
flex_olmo 100352 4096 11008 32 32 4096 num_experts=7
flint 150144 2048 6144 49 32 262144 moe_intermediate_size=512 num_experts=256
gemma 256000 3072 24576 28 16 8192
gemma2 256000 2304 9216 26 8 8192
gemma3_text 262208 2304 9216 26 8 131072
gemma3n_text 262400 2048 - 35 8 32768
gemma4_text 262144 2304 9216 30 8 131072
gemma4_unified_text 262144 2304 9216 30 8 262144
glm 151552 4096 13696 40 32 131072
glm4 151552 4096 13696 40 32 131072
glm4_moe 151552 4096 10944 46 96 131072 moe_intermediate_size=1408 n_routed_experts=128
gpt2 50257 - - - - - n_positions=1024 n_embd=768 n_layer=12 n_head=12
gpt_neox 50432 6144 24576 44 64 2048
gpt_neox_japanese 32000 2560 - 32 32 2048
gpt_oss 201088 2880 2880 36 64 131072 num_local_experts=128
granite 32000 4096 11008 32 32 2048
granite_swa 100352 2560 8192 24 20 8192
granitemoe 32000 4096 11008 32 32 2048 num_local_experts=8
granitemoe_swa 32000 4096 11008 32 32 2048 num_local_experts=8
granitemoehybrid 32000 4096 11008 32 32 2048 num_local_experts=8
granitemoeshared 32000 4096 11008 32 32 2048 num_local_experts=8
helium 48000 2560 7040 24 20 4096
hunyuan_v1_dense 290943 4096 11008 32 32 2048 head_dim=128
hunyuan_v1_moe 290943 4096 11008 32 32 2048 num_experts=1
hyperclovax 32000 4096 11008 32 32 2048
inkling2_loop_text 201024 2304 - 24 24 1048576 moe_intermediate_size=1152 n_routed_experts=128
inkling2_text 201024 4608 - 48 48 1048576 moe_intermediate_size=2304 n_routed_experts=384
inkling_text 201024 6144 - 66 64 131072 moe_intermediate_size=3072 n_routed_experts=256
internlm3 128512 4096 10240 48 32 32768
iquestcoder 76800 5120 27648 80 40 131072
jais2 150272 3328 26624 32 26 8192
jamba 65536 4096 14336 32 32 262144 num_experts=16
jetmoe 32000 2048 5632 12 - 4096 num_local_experts=8
laguna 100352 2048 8192 40 48 131072 moe_intermediate_size=512 num_experts=256
lfm2 65536 2560 12288 32 32 128000
lfm2_moe 65536 2048 7168 32 32 128000 moe_intermediate_size=1792 num_experts=32
lfm3 128000 2048 7680 24 16 128000
llama 32000 4096 11008 32 32 2048
llama4_text 202048 5120 8192 48 40 131072 num_local_experts=16
mellum 98304 2304 - 28 32 131072 moe_intermediate_size=896 num_local_experts=64
minicpm3 73448 2560 6400 62 40 32768 kv_lora_rank=256 qk_nope_head_dim=64 qk_rope_head_dim=32
minimax 32000 4096 14336 32 32 131072 num_local_experts=8
minimax_m2 200064 3072 1536 62 48 196608 num_local_experts=256
minimax_m3_vl_text 200064 6144 3072 60 64 524288 num_local_experts=128
ministral 32000 4096 14336 32 32 131072
ministral3 131072 4096 14336 34 32 262144
mistral 32000 4096 14336 32 32 131072
mixtral 32000 4096 14336 32 32 131072 num_local_experts=8
mt5 250112 - - - - - d_ff=1024 d_model=512 num_heads=6 num_layers=8
nanochat 50304 768 8192 12 6 2048
nemotron 256000 6144 24576 32 48 4096
olmo 50304 4096 11008 32 32 2048
olmo2 50304 4096 11008 32 32 2048
olmo3 50304 4096 11008 32 32 2048
olmo_hybrid 100352 3840 11008 32 30 65536
olmoe 50304 2048 2048 16 16 4096 num_experts=64
opt 50272 768 - 12 12 2048 ffn_dim=3072
persimmon 262144 4096 16384 36 64 16384
phi 51200 2048 8192 24 32 2048
phi3 32064 3072 8192 32 32 4096
phi4_multimodal 200064 3072 8192 32 32 131072
phimoe 32064 4096 6400 32 32 131072 num_local_experts=16
qwen2 151936 4096 22016 32 32 32768
qwen3 151936 4096 22016 32 32 32768
qwen3_5 248320 4096 12288 32 16 32768
qwen3_5_moe 248320 2048 - 40 16 32768 moe_intermediate_size=512 num_experts=256
qwen3_5_moe_text 248320 2048 - 40 16 32768 moe_intermediate_size=512 num_experts=256
qwen3_5_text 248320 4096 12288 32 16 32768
qwen3_moe 151936 2048 - 24 32 32768 moe_intermediate_size=768 num_local_experts=128
qwen3_next 151936 2048 - 48 16 32768 moe_intermediate_size=512 num_experts=512
recurrent_gemma 256000 2560 7680 26 10 -
sarvam_moe 262144 4096 8192 19 64 131072 moe_intermediate_size=1024 n_routed_experts=128
seed_oss 155136 4096 27648 64 80 524288
smollm3 128256 2048 11008 36 16 32768
solar_open 196608 4096 - 48 64 131072 moe_intermediate_size=1280 n_routed_experts=128
stablelm 50304 2560 6912 32 32 4096
starcoder2 49152 3072 12288 30 24 4096
t5 32128 - - - - - d_ff=2048 d_model=512 num_heads=8 num_layers=6
umt5 250112 - - - - - d_ff=1024 d_model=512 num_heads=6 num_layers=8
vaultgemma 256000 2304 9216 26 8 8192
zamba 32000 3712 14848 76 16 4096
zamba2 32000 2560 - 54 32 4096
zaya 262272 2048 - 40 8 131072 moe_intermediate_size=2048 num_experts=16 router_hidden_size=256
"""
"""Each type with its sizes by ``_KEYS`` ('-': the class has none), and by further keys."""


def class_sizes(type_: str) -> dict[str, int]:
    """The sizes that the class of a type has by itself, by their keys; none of an unknown type."""
    for line in _SIZES.split("\n"):
        name, *words = line.split() or [""]
        if name == type_:
            stated = zip(_KEYS, words[: len(_KEYS)], strict=True)
            further = (word.split("=") for word in words[len(_KEYS) :])
            return {key: int(size) for key, size in (*stated, *further) if size != "-"}
    return {}
