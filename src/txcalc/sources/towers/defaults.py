"""The sizes that towers have by their classes, where a config leaves them out.

Facts: the configuration classes of transformers 5.24.0.
"""

from __future__ import annotations

_SIZES = """
altclip_vision_model: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
altclip_vision_model: num_attention_heads=12 num_channels=3 image_size=224 patch_size=32
altclip_vision_model: projection_dim=512
audioflamingo3_encoder: hidden_size=1280 intermediate_size=5120 num_hidden_layers=32
audioflamingo3_encoder: num_attention_heads=20 num_mel_bins=128 max_source_positions=1500
beit: vocab_size=8192 hidden_size=768 intermediate_size=3072 num_hidden_layers=12
beit: num_attention_heads=12 num_channels=3 image_size=224 patch_size=16
blip_2_vision_model: hidden_size=1408 intermediate_size=6144 num_hidden_layers=39
blip_2_vision_model: num_attention_heads=16 image_size=224 patch_size=14
clip_vision_model: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
clip_vision_model: num_attention_heads=12 num_channels=3 image_size=224 patch_size=32
clip_vision_model: projection_dim=512
clipseg_vision_model: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
clipseg_vision_model: num_attention_heads=12 num_channels=3 image_size=224 patch_size=32
data2vec-audio: vocab_size=32 hidden_size=768 intermediate_size=3072 num_hidden_layers=12
data2vec-audio: num_attention_heads=12
data2vec-vision: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
data2vec-vision: num_attention_heads=12 num_channels=3 image_size=224 patch_size=16
deit: hidden_size=768 intermediate_size=3072 num_hidden_layers=12 num_attention_heads=12
deit: num_channels=3 image_size=224 patch_size=16
dinov2: hidden_size=768 num_hidden_layers=12 num_attention_heads=12 num_channels=3 image_size=224
dinov2: patch_size=14 mlp_ratio=4
dinov2_with_registers: hidden_size=768 num_hidden_layers=12 num_attention_heads=12 num_channels=3
dinov2_with_registers: image_size=224 patch_size=16 mlp_ratio=4
dinov3_vit: hidden_size=384 intermediate_size=1536 num_hidden_layers=12 num_attention_heads=6
dinov3_vit: num_channels=3 image_size=224 patch_size=16
exaone4_5_vision: hidden_size=3584 intermediate_size=3420 depth=32 num_heads=16
exaone4_5_vision: num_key_value_heads=8 in_channels=3 patch_size=14 spatial_merge_size=2
exaone4_5_vision: temporal_patch_size=2 window_size=112 out_hidden_size=3584
gemma4_vision: max_position_embeddings=131072 hidden_size=768 intermediate_size=3072
gemma4_vision: num_hidden_layers=16 num_attention_heads=12 num_key_value_heads=12 head_dim=64
gemma4_vision: patch_size=16 position_embedding_size=10240 pooling_kernel_size=3
glm4v_moe_vision: hidden_size=1536 intermediate_size=13696 depth=24 num_heads=12 in_channels=3
glm4v_moe_vision: image_size=336 patch_size=14 spatial_merge_size=2 temporal_patch_size=2
glm4v_moe_vision: out_hidden_size=4096
glm4v_vision: hidden_size=1536 intermediate_size=13696 depth=24 num_heads=12 in_channels=3
glm4v_vision: image_size=336 patch_size=14 spatial_merge_size=2 temporal_patch_size=2
glm4v_vision: out_hidden_size=4096
glm_ocr_vision: hidden_size=1024 intermediate_size=4096 depth=24 num_heads=16 in_channels=3
glm_ocr_vision: image_size=336 patch_size=14 spatial_merge_size=2 temporal_patch_size=2
glm_ocr_vision: out_hidden_size=1536
glmasr_encoder: max_position_embeddings=1500 hidden_size=1280 intermediate_size=5120
glmasr_encoder: num_hidden_layers=32 num_attention_heads=20 num_key_value_heads=20
glmasr_encoder: num_mel_bins=128
hubert: vocab_size=32 hidden_size=768 intermediate_size=3072 num_hidden_layers=12
hubert: num_attention_heads=12
idefics2_vision: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
idefics2_vision: num_attention_heads=12 num_channels=3 image_size=224 patch_size=32
idefics3_vision: hidden_size=1152 intermediate_size=3072 num_hidden_layers=12
idefics3_vision: num_attention_heads=16 num_channels=3 image_size=224 patch_size=32
ijepa: hidden_size=768 intermediate_size=3072 num_hidden_layers=12 num_attention_heads=12
ijepa: num_channels=3 image_size=224 patch_size=16
instructblip_vision_model: hidden_size=1408 intermediate_size=6144 num_hidden_layers=39
instructblip_vision_model: num_attention_heads=16 image_size=224 patch_size=14
instructblipvideo_vision_model: hidden_size=1408 intermediate_size=6144 num_hidden_layers=39
instructblipvideo_vision_model: num_attention_heads=16 image_size=224 patch_size=14
internvl_vision: hidden_size=1024 intermediate_size=4096 num_hidden_layers=24
internvl_vision: num_attention_heads=16 num_channels=3 image_size=448 patch_size=14
kimi_k25_vision: hidden_size=1152 intermediate_size=4304 num_hidden_layers=27
kimi_k25_vision: num_attention_heads=16 patch_size=14 pos_emb_height=64 pos_emb_width=64
kimi_k25_vision: pos_emb_time=4
llama4_vision_model: hidden_size=768 intermediate_size=5632 num_hidden_layers=34
llama4_vision_model: num_attention_heads=16 num_channels=3 image_size=448 patch_size=14
llama4_vision_model: vision_output_dim=7680 projector_input_dim=4096 projector_output_dim=4096
minimax_m3_vl_vision: hidden_size=1280 intermediate_size=5120 num_hidden_layers=32
minimax_m3_vl_vision: num_attention_heads=16 num_channels=3 image_size=2016 patch_size=14
minimax_m3_vl_vision: spatial_merge_size=2 temporal_patch_size=2
mllama_vision_model: hidden_size=1280 intermediate_size=5120 num_hidden_layers=32
mllama_vision_model: attention_heads=16 num_channels=3 image_size=448 patch_size=14
mllama_vision_model: num_global_layers=8 vision_output_dim=7680 max_num_tiles=4
moss_transcribe_diarize_audio: hidden_size=1024 intermediate_size=4096 num_hidden_layers=24
moss_transcribe_diarize_audio: num_attention_heads=16 num_mel_bins=80 max_source_positions=1500
omniasr_audio: hidden_size=1024 intermediate_size=4096 num_hidden_layers=24 num_attention_heads=16
owlvit_vision_model: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
owlvit_vision_model: num_attention_heads=12 num_channels=3 image_size=768 patch_size=32
paddleocr_vl_vision: hidden_size=1152 intermediate_size=4304 num_hidden_layers=27
paddleocr_vl_vision: num_attention_heads=16 num_channels=3 image_size=384 patch_size=14
paddleocr_vl_vision: spatial_merge_size=2
pixio: hidden_size=1280 num_hidden_layers=32 num_attention_heads=16 num_channels=3 image_size=256
pixio: patch_size=16 mlp_ratio=4 n_cls_tokens=8
pixtral: hidden_size=1024 intermediate_size=4096 num_hidden_layers=24 num_attention_heads=16
pixtral: head_dim=64 num_channels=3 image_size=1024 patch_size=16
qianfan_ocr_vision: hidden_size=1024 intermediate_size=4096 num_hidden_layers=24
qianfan_ocr_vision: num_attention_heads=16 num_channels=3 image_size=448 patch_size=14
qwen2_5_omni_audio_encoder: d_model=1280 encoder_layers=32 encoder_attention_heads=20
qwen2_5_omni_audio_encoder: encoder_ffn_dim=5120 num_mel_bins=128 max_source_positions=1500
qwen2_5_omni_audio_encoder: output_dim=3584 n_window=100
qwen2_5_omni_vision_encoder: hidden_size=3584 intermediate_size=3420 depth=32 num_heads=16
qwen2_5_omni_vision_encoder: in_channels=3 patch_size=14 spatial_merge_size=2
qwen2_5_omni_vision_encoder: temporal_patch_size=2 window_size=112 out_hidden_size=3584
qwen2_5_vl_vision: hidden_size=3584 intermediate_size=3420 depth=32 num_heads=16 in_channels=3
qwen2_5_vl_vision: patch_size=14 spatial_merge_size=2 temporal_patch_size=2 window_size=112
qwen2_5_vl_vision: out_hidden_size=3584
qwen2_audio_encoder: d_model=1280 encoder_layers=32 encoder_attention_heads=20
qwen2_audio_encoder: encoder_ffn_dim=5120 num_mel_bins=128 max_source_positions=1500
qwen2_vl_vision: hidden_size=3584 embed_dim=1280 depth=32 num_heads=16 in_channels=3 patch_size=14
qwen2_vl_vision: mlp_ratio=4 spatial_merge_size=2 temporal_patch_size=2
qwen3_5_moe_vision: hidden_size=1152 intermediate_size=4304 depth=27 num_heads=16 in_channels=3
qwen3_5_moe_vision: patch_size=16 spatial_merge_size=2 temporal_patch_size=2 out_hidden_size=3584
qwen3_5_moe_vision: num_position_embeddings=2304
qwen3_5_vision: hidden_size=1152 intermediate_size=4304 depth=27 num_heads=16 in_channels=3
qwen3_5_vision: patch_size=16 spatial_merge_size=2 temporal_patch_size=2 out_hidden_size=3584
qwen3_5_vision: num_position_embeddings=2304
qwen3_omni_moe_audio_encoder: d_model=1280 encoder_layers=32 encoder_attention_heads=20
qwen3_omni_moe_audio_encoder: encoder_ffn_dim=5120 num_mel_bins=128 max_source_positions=1500
qwen3_omni_moe_audio_encoder: output_dim=3584 n_window=50 downsample_hidden_size=480
qwen3_omni_moe_vision_encoder: hidden_size=1152 intermediate_size=4304 depth=27 num_heads=16
qwen3_omni_moe_vision_encoder: in_channels=3 patch_size=16 spatial_merge_size=2
qwen3_omni_moe_vision_encoder: temporal_patch_size=2 out_hidden_size=3584
qwen3_omni_moe_vision_encoder: num_position_embeddings=2304
qwen3_vl_moe_vision: hidden_size=1152 intermediate_size=4304 depth=27 num_heads=16 in_channels=3
qwen3_vl_moe_vision: patch_size=16 spatial_merge_size=2 temporal_patch_size=2 out_hidden_size=3584
qwen3_vl_moe_vision: num_position_embeddings=2304
qwen3_vl_vision: hidden_size=1152 intermediate_size=4304 depth=27 num_heads=16 in_channels=3
qwen3_vl_vision: patch_size=16 spatial_merge_size=2 temporal_patch_size=2 out_hidden_size=3584
qwen3_vl_vision: num_position_embeddings=2304
siglip2_vision_model: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
siglip2_vision_model: num_attention_heads=12 num_channels=3 patch_size=16 num_patches=256
siglip_vision_model: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
siglip_vision_model: num_attention_heads=12 num_channels=3 image_size=224 patch_size=16
smolvlm_vision: hidden_size=1152 intermediate_size=3072 num_hidden_layers=12
smolvlm_vision: num_attention_heads=16 num_channels=3 image_size=224 patch_size=32
unispeech: vocab_size=32 hidden_size=768 intermediate_size=3072 num_hidden_layers=12
unispeech: num_attention_heads=12
video_llama_3_vision: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
video_llama_3_vision: num_attention_heads=12 num_channels=3 patch_size=16
vit: hidden_size=768 intermediate_size=3072 num_hidden_layers=12 num_attention_heads=12
vit: num_channels=3 image_size=224 patch_size=16
vit_msn: hidden_size=768 intermediate_size=3072 num_hidden_layers=12 num_attention_heads=12
vit_msn: num_channels=3 image_size=224 patch_size=16
voxtral_encoder: vocab_size=51866 hidden_size=1280 intermediate_size=5120 num_hidden_layers=32
voxtral_encoder: num_attention_heads=20 num_mel_bins=128 max_source_positions=1500
voxtral_realtime_encoder: vocab_size=131072 max_position_embeddings=1500 sliding_window=750
voxtral_realtime_encoder: hidden_size=1280 intermediate_size=5120 num_hidden_layers=32
voxtral_realtime_encoder: num_attention_heads=32 head_dim=64 num_mel_bins=128
wav2vec2: vocab_size=32 hidden_size=768 intermediate_size=3072 num_hidden_layers=12
wav2vec2: num_attention_heads=12
clip_text_model: vocab_size=49408 max_position_embeddings=77 hidden_size=512
clip_text_model: intermediate_size=2048 num_hidden_layers=12 num_attention_heads=8
clip_text_model: projection_dim=512
clipseg_text_model: vocab_size=49408 max_position_embeddings=77 hidden_size=512
clipseg_text_model: intermediate_size=2048 num_hidden_layers=12 num_attention_heads=8
owlvit_text_model: vocab_size=49408 max_position_embeddings=16 hidden_size=512
owlvit_text_model: intermediate_size=2048 num_hidden_layers=12 num_attention_heads=8
siglip_text_model: vocab_size=32000 max_position_embeddings=64 projection_size=768 hidden_size=768
siglip_text_model: intermediate_size=3072 num_hidden_layers=12 num_attention_heads=12
siglip2_text_model: vocab_size=32000 max_position_embeddings=64 projection_size=768
siglip2_text_model: hidden_size=768 intermediate_size=3072 num_hidden_layers=12
siglip2_text_model: num_attention_heads=12
"""


def sizes(type_: str) -> dict[str, int]:
    """The sizes that a type has by itself, by their keys; none of an unknown type."""
    known: dict[str, int] = {}
    for line in _SIZES.split("\n"):
        name, _, words = line.partition(": ")
        if name == type_:
            known |= {key: int(size) for key, _, size in (w.partition("=") for w in words.split())}
    return known
