"""Configs that are not Hugging Face's: recognised by their keys, described as the same families."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from txcalc.sources.families.deepseek import deepseek_v2, deepseek_v3, deepseek_v32
from txcalc.sources.families.gpt import gpt2
from txcalc.sources.families.llama import llama
from txcalc.sources.families.mamba import mamba, mamba2
from txcalc.sources.families.mistral import mistral, mixtral
from txcalc.sources.readers.config import Config, Tree

_PARAMS = {
    "hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads",
    "num_key_value_heads": "n_kv_heads", "max_position_embeddings": "max_seq_len",
}  # fmt: skip
_INFERENCE = _PARAMS | {
    "intermediate_size": "inter_dim", "moe_intermediate_size": "moe_inter_dim",
    "first_k_dense_replace": "n_dense_layers", "num_experts_per_tok": "n_activated_experts",
}  # fmt: skip


def meta(c: Config) -> Tree:
    """Meta's ``params.json`` (meta-llama/llama3, model.py): three keys make the FFN's width.

    Its code has a head of its own, whatever a converted file ties.
    """
    c.rename(_PARAMS)
    if c.raw("vocab_size") == -1:
        c.refuse("vocab_size", "-1 stands for the tokenizer's size, which is needed here")
    wide = 2 * 4 * c.size("hidden_size") // 3
    wide = int(c.number("ffn_dim_multiplier", default=Fraction(1)) * wide)
    multiple = c.size("multiple_of", default=256)
    c.assume(intermediate_size=-(-wide // multiple) * multiple)
    c.ignore("norm_eps", "use_scaled_rope", "max_batch_size")
    return llama(c)


def mistral_params(c: Config) -> Tree:
    """Mistral's ``params.json`` (mistralai/mistral-inference, args.py): no window unless stated."""
    c.rename(
        _PARAMS | {"intermediate_size": "hidden_dim", "tie_word_embeddings": "tied_embeddings"}
    )
    for key in ("vision_encoder", "kv_lora_rank", "lora", "state_size"):
        if c.has(key):
            c.unsupported(f"{key} of Mistral's params.json")
    c.ignore("norm_eps", "max_batch_size", "model_type")
    c.assume(sliding_window=None)
    experts = c.inner("moe")
    if experts is None:
        return mistral(c)
    sizes = {key: experts.size(key) for key in ("num_experts", "num_experts_per_tok")}
    c.assume(
        num_local_experts=sizes["num_experts"], num_experts_per_tok=sizes["num_experts_per_tok"]
    )
    return mixtral(c)


def deepseek_inference(c: Config) -> Tree:
    """``inference/configs`` of deepseek-ai/DeepSeek-V3: V2 and V3, and V3.2 with an indexer.

    V3's router scores by a sigmoid and has a correction; a q_lora_rank of 0 stands for none.
    """
    c.rename(_INFERENCE)
    if not c.count("q_lora_rank", default=0):
        c.forget("q_lora_rank")
        c.assume(q_lora_rank=None)
    c.ignore("n_expert_groups", "n_limited_groups", "route_scale", "score_func", "mscale", "dtype")
    c.ignore("scale_fmt", "max_batch_size", "original_seq_len", "rope_factor")
    sigmoid = c.word("score_func", default="softmax", known=("sigmoid", "softmax")) == "sigmoid"
    if c.has("index_topk"):
        return deepseek_v32(c)
    return deepseek_v3(c) if sigmoid else deepseek_v2(c)


def mamba_ssm(c: Config) -> Tree:
    """The config of state-spaces/mamba: tied unless it says not, its vocabulary padded."""
    c.rename({"hidden_size": "d_model", "num_hidden_layers": "n_layer",
              "tie_word_embeddings": "tie_embeddings"})  # fmt: skip
    if c.count("d_intermediate", default=0) or c.raw("attn_layer_idx"):
        c.unsupported("d_intermediate, or attention (attn_layer_idx), of the original Mamba")
    if not c.flag("rms_norm", default=True):
        c.unsupported("LayerNorm (rms_norm false) of the original Mamba")
    c.ignore("attn_cfg", "fused_add_norm")
    c.assume(tie_word_embeddings=True)
    ssm = c.needed("ssm_cfg")
    second = ssm.word("layer", default="Mamba1", known=("Mamba1", "Mamba2")) == "Mamba2"
    c.assume(
        expand=ssm.size("expand", default=2), conv_kernel=ssm.size("d_conv", default=4),
        state_size=ssm.size("d_state", default=128 if second else 16),
    )  # fmt: skip
    tree = _heads(c, ssm) if second else mamba(c)
    multiple = c.size("pad_vocab_size_multiple", default=8)
    return tree | {"vocab": -(-tree["vocab"] // multiple) * multiple}


def _heads(c: Config, ssm: Config) -> Tree:
    """Mamba-2, whose heads are as many as their width leaves."""
    width = ssm.size("headdim", default=64)
    heads = c.size("hidden_size") * ssm.size("expand", default=2) // width
    c.assume(n_groups=ssm.size("ngroups", default=1), head_dim=width, num_heads=heads)
    return mamba2(c)


def nanogpt(c: Config) -> Tree:
    """The arguments of karpathy/nanoGPT's GPTConfig: GPT-2, and one flag for all biases."""
    c.rename({"n_positions": "block_size"})
    c.assume(vocab_size=50304)
    tree = gpt2(c)
    if c.flag("bias", default=True):
        return tree
    block = {name: _unbiased(part) for name, part in tree["blocks"]["decoder"].items()}
    layers = tree["layers"] | {"final_norm": "layer_no_bias"}
    return tree | {"blocks": {"decoder": block | {"norm": "layer_no_bias"}}, "layers": layers}


def _unbiased(part: Any) -> Any:
    """A part of a block without its biases."""
    return {k: v for k, v in part.items() if k != "bias"} if isinstance(part, dict) else part
