"""Keys of a config.json that change no count of any family.

A key that some family reads as a shape of its layers stays out, whatever it means elsewhere: a file
of another type that has it deserves the warning.
"""

from __future__ import annotations

_NUMBERS = """
alibi_bias_max attention_in_multiplier attention_multiplier attention_out_multiplier
attention_value_scale attn_rotary_emb clip_qkv dim_model_base embedding_multiplier embedding_scale
embeddings_scale_by_sqrt_dim eps full_attn_alpha_factor full_attn_beta_factor gate_lower_bound
indexer_rope_interleave initial_context_length inv_coeff_init_option kda_lower_bound key_multiplier
layernorm_full_attention_alpha layernorm_full_attention_beta layernorm_linear_attention_alpha
layernorm_linear_attention_beta layernorm_mlp_alpha layernorm_mlp_beta linear_allow_neg_eigval
linear_attn_alpha_factor linear_attn_beta_factor linear_lower_bound lm_head_multiplier
log_scaling_alpha log_scaling_n_floor logit_scale logits_scaling mlp_alpha_factor mlp_beta_factor
mlp_gate_softcap mlp_multipliers mlp_up_softcap moe_renormalize moe_routed_scaling_factor n_group
norm_topk_prob offset_alibi original_max_position_embeddings partial_rotary_factor
qk_l2_clip_threshold query_pre_attn_scalar rel_l2_clip_threshold relative_attention_max_distance
relative_max_distance rescale_embeddings rescale_every residual_multiplier rope_interleave
rope_parameters rope_scaling rope_theta rotary_base rotary_dim rotary_emb_base rotary_emb_fraction
rotary_emb_interleaved rotary_emb_scale_base rotary_pct rotary_scaling_factor routed_scaling_factor
router_scaling_factor scale_attn_by_inverse_layer_idx scale_attn_weights scale_decoder_outputs
scale_depth scale_emb scale_embedding scoring_func softmax_scale ssm_in_multiplier ssm_multipliers
ssm_out_multiplier swiglu_alpha swiglu_limit topk_group topk_method
"""
"""Multipliers, scales, rotary settings, how routers score."""

_ACTIVATIONS = """
activation activation_function act_fn afn conv_act ff_activation gelu_activation hidden_act
hidden_activation hidden_mamba_act moe_router_activation_func
"""

_TRAINING = """
L_bp_cycles aggregation_loss_weight aggregation_temperature allow_empty_column_selection amp
answer_loss_cutoff answer_loss_importance apply_spec_augment aux_loss_alpha
average_approximation_function average_logits_per_cell axial_norm_std cell_selection_preference
conv_use_xavier_init disable_ngram_loss disable_per_token_loss dropout dropout_p dropout_rate
embed_init_std embedding_initializer_range final_w_init_variance_scale fp16 gradient_checkpointing
group_by_size huber_loss_delta init_cell_selection_weights_to_zero init_config init_device
init_method init_std initializer_cutoff_factor initializer_factor initializer_range initializer_std
input_jitter_noise lambda_std_dev layerdrop learnable_sink_init lg_sampling_factor linear_a_log_max
linear_a_log_min linear_dt_init_floor linear_dt_max linear_dt_min max_trained_positions
mlp_checkpoint_lvl moe_loss_weight mono_dataset mtp_loss_scaling_factor ngpt_alpha_init optimizer
positive_label_weight router_aux_loss_coef router_jitter_noise router_z_loss_coef sample_alpha
seq_aux sparse_pred_ignore_index sparse_prediction tf_legacy_loss time_step_floor
time_step_init_scheme time_step_limit time_step_max time_step_min time_step_scale
use_answer_as_supervision use_gumbel_for_aggregation use_gumbel_for_cells
use_normalized_answer_loss use_xentropy w_init_variance_scale word_blank word_keep word_mask
word_mask_keep_rand word_pred word_rand word_shuffle z_loss_coefficient
"""
"""How weights begin and are trained, and how a step size begins and is bounded."""

_RUNNING = """
_attn_implementation _attn_implementation_autoset add_router_probs attention_softmax_in_fp32
attn_impl attn_implementation autocast_kernel_dtype bias_dropout_fusion chunk_size_feed_forward
chunkwise_kernel deterministic_flash_attn dtype enable_moe_fp32_combine ep_size
for_llm_compressor force_dequant fused_bias_fc fused_dropout_add_ln hash_seed lsh_backward
mamba_chunk_size masked_softmax_fusion max_inference_chunksize median_filter_width
norm_reduction_force_float32 num_logits_to_keep onnx_export output_attentions
output_hidden_states output_past output_router_logits output_scores pretraining_tp
quantization_config reference_compile reorder_and_upcast_attn repad_logits_with_grad
rescale_prenorm_residual residual_in_fp32 return_dict return_last_states
scale_attention_softmax_in_fp32 sequence_kernel
skip_bias_add skip_bias_add_qkv slow_but_exact step_kernel torch_dtype torchscript
tpu_short_seq_length use_associative_scan use_bfloat16 use_cache use_falcon_mambapy use_fast_hash
use_flash_attn use_mamba_kernels use_mambapy use_mem_eff_path use_tpu_fourier_optimizations
"""
"""Kernels, precision, what is returned."""

_GENERATION = """
bad_words_ids begin_suppress_tokens diversity_penalty do_sample early_stopping
encoder_no_repeat_ngram_size exponential_decay_length_penalty forced_decoder_ids
force_bos_token_to_be_generated length_penalty max_length min_length no_repeat_ngram_size
num_beam_groups num_beams num_return_sequences remove_invalid_values repetition_penalty
return_dict_in_generate suppress_tokens temperature top_k top_p typical_p
"""

_FILE = """
_commit_hash _name_or_path auto_map bos_index custom_pipelines directionality eos_index
finetuning_task id2label label2id mask_index max_num_columns max_num_rows
no_aggregation_label_index num_labels pad_index padding_idx pooler_fc_size
pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type prefix
problem_type pruned_heads reset_position_index_per_cell summary_activation summary_proj_to_labels
summary_type summary_use_proj task_specific_params tokenizer_class transformers_version unk_index
"""
"""Where a file comes from, its labels and tokens, and what the first BERT files say of poolers."""

_ROLES = """
add_cross_attention cross_attention_hidden_size decoder_start_token_id is_decoder
is_encoder_decoder tie_encoder_decoder
"""
"""What a part of a pair does: the families of pairs read it, and others have it by default."""

_HARMLESS = frozenset(
    " ".join((_NUMBERS, _ACTIVATIONS, _TRAINING, _RUNNING, _GENERATION, _FILE, _ROLES)).split()
)
_ENDINGS = (
    "_token_id", "_token_ids", "_token_index", "_dropout", "_pdrop", "_dropout_prob",
    "_dropout_rate", "_drop", "_layerdrop", "_eps", "_epsilon", "_rope_theta", "_softcapping",
    "_soft_cap", "_hidden_act", "_act_fn",
)  # fmt: skip
_BEGINNINGS = ("mask_time_", "mask_feature_")


def is_harmless(key: str) -> bool:
    """Whether a key is known to change no count of any family."""
    return key in _HARMLESS or key.endswith(_ENDINGS) or key.startswith(_BEGINNINGS)
