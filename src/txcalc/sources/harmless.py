"""Keys of a config.json that change no count of any family."""

from __future__ import annotations

_HARMLESS = {
    "_attn_implementation", "_attn_implementation_autoset", "_commit_hash", "_name_or_path",
    "attn_implementation", "attention_dropout", "auto_map", "chunk_size_feed_forward",
    "cross_attention_hidden_size", "custom_pipelines", "decoder_start_token_id",
    "diversity_penalty", "do_sample", "dtype", "early_stopping", "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty", "finetuning_task", "gradient_checkpointing", "id2label",
    "init_std", "initializer_factor", "initializer_range", "is_decoder", "is_encoder_decoder",
    "label2id", "length_penalty", "max_length", "min_length", "no_repeat_ngram_size",
    "num_beam_groups", "num_beams", "num_labels", "num_return_sequences", "output_attentions",
    "output_hidden_states", "output_scores", "prefix", "problem_type", "pruned_heads",
    "remove_invalid_values", "repetition_penalty", "return_dict", "return_dict_in_generate",
    "scale_embedding", "suppress_tokens", "begin_suppress_tokens", "task_specific_params",
    "temperature", "tf_legacy_loss", "tokenizer_class", "top_k", "top_p", "torch_dtype",
    "torchscript", "transformers_version", "typical_p", "use_bfloat16", "use_cache",
    "add_cross_attention", "tie_encoder_decoder", "bad_words_ids", "forced_decoder_ids",
    "rope_theta", "rope_scaling", "rope_parameters", "rotary_base", "partial_rotary_factor",
    "pretraining_tp", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "rms_norm_eps",
    "norm_eps", "norm_epsilon", "hidden_act", "hidden_activation", "activation_function",
    "hidden_dropout", "classifier_dropout", "output_router_logits", "router_aux_loss_coef",
    "router_jitter_noise", "unk_index", "pad_index", "bos_index", "eos_index",
    "dropout", "layerdrop", "activation", "summary_type", "summary_use_proj", "summary_activation",
    "summary_proj_to_labels", "scale_attn_weights", "scale_attn_by_inverse_layer_idx",
    "norm_topk_prob", "routed_scaling_factor", "n_group", "topk_group", "scoring_func",
    "topk_method", "quantization_config", "clip_qkv", "aux_loss_alpha", "seq_aux", "ep_size",
    "indexer_rope_interleave", "swiglu_limit",
    "reorder_and_upcast_attn", "scale_attention_softmax_in_fp32", "attention_softmax_in_fp32",
    "input_jitter_noise", "for_llm_compressor", "initial_context_length", "swiglu_alpha",
}  # fmt: skip
_HARMLESS_ENDINGS = ("_token_id", "_token_ids", "_token_index", "_dropout", "_pdrop",
                     "_dropout_prob", "_drop")  # fmt: skip


def is_harmless(key: str) -> bool:
    """Whether a key is known to change no count of any family."""
    return key in _HARMLESS or key.endswith(_HARMLESS_ENDINGS)
