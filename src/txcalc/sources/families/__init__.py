"""What each Hugging Face model type means: one file a lineage, one short function a family."""

TYPES = {
    "biogpt": "opt.biogpt",
    "bloom": "bloom.bloom",
    "codegen": "gpt.gptj",
    "cpmant": "opt.cpmant",
    "ctrl": "gpt.ctrl",
    "falcon": "bloom.falcon",
    "flex_olmo": "mixtral.flex_olmo",
    "gpt-sw3": "gpt.gpt2",
    "gpt2": "gpt.gpt2",
    "gpt_bigcode": "gpt.gpt_bigcode",
    "gpt_neo": "gpt.gpt_neo",
    "gpt_neox": "gpt.gpt_neox",
    "gpt_neox_japanese": "gpt.gpt_neox_japanese",
    "gptj": "gpt.gptj",
    "granitemoe": "mixtral.granitemoe",
    "granitemoeshared": "mixtral.granitemoe",
    "llama": "llama.llama",
    "longt5": "t5.longt5:conditional",
    "minimax_m2": "mixtral.minimax_m2",
    "mistral": "llama.mistral",
    "mixtral": "mixtral.mixtral",
    "mpt": "bloom.mpt",
    "mt5": "t5.mt5:conditional",
    "olmoe": "mixtral.olmoe",
    "openai-gpt": "gpt.openai_gpt",
    "opt": "opt.opt",
    "phimoe": "mixtral.phimoe",
    "qwen2": "qwen.qwen2",
    "qwen3": "qwen.qwen3",
    "switch_transformers": "t5.switch:conditional",
    "t5": "t5.t5:conditional",
    "umt5": "t5.umt5:conditional",
    "xglm": "opt.xglm",
}
"""model_type -> ``file.function``, and after a colon the usual task where it is not causal."""

CLASSES: dict[str, str] = {}
"""Class names without their ending, in lower case, of types that are called otherwise."""

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
    "reorder_and_upcast_attn", "scale_attention_softmax_in_fp32", "attention_softmax_in_fp32",
}  # fmt: skip
_HARMLESS_ENDINGS = ("_token_id", "_token_ids", "_dropout", "_pdrop", "_dropout_prob", "_drop")


def is_harmless(key: str) -> bool:
    """Whether a key is known to change no count of any family."""
    return key in _HARMLESS or key.endswith(_HARMLESS_ENDINGS)
