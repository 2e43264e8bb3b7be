"""Qwen3-Next and Qwen 3.5: the gated delta rule in most layers, gated attention in the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from txcalc.sources.readers.common import attention, glu, mixture, noted, sized, text_model
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, grid, kinds, n_layers

LAYERS = {"linear_attention": "linear", "full_attention": "full", "attention": "full"}


def qwen3_next(c: Config) -> Tree:
    """Experts in every layer, or in every n-th, and one that every token uses behind a gate."""
    step, dense = sized(c, "decoder_sparse_step", 1), set(c.sizes("mlp_only_layers") or ())
    some = c.count("num_experts", default=512) > 0
    sparse = by_layer(
        n_layers(c),
        lambda i: "moe" if some and i not in dense and (i + 1) % step == 0 else "dense",
    )
    c.ignore("intermediate_size", "use_sliding_window", "sliding_window", "max_window_layers")
    c.ignore("num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size")
    c.ignore("norm_topk_prob")
    ffns = {"moe": experts(c, 10)} if "moe" in sparse else {}
    if "dense" in sparse:
        ffns["dense"] = glu(c)
    return _model(c, ffns, sparse)


def qwen3_5(c: Config) -> Tree:
    """Qwen 3.5, the dense ones."""
    return text_of(c, qwen3_5_text)


def qwen3_5_moe(c: Config) -> Tree:
    """Qwen 3.5 with experts."""
    return text_of(c, qwen3_5_moe_text)


def qwen3_5_text(c: Config) -> Tree:
    """The language model of the dense ones."""
    return _with_mtp(c, _model(c, {"dense": glu(c)}, ["dense"] * n_layers(c), kv_heads=4))


def qwen3_5_moe_text(c: Config) -> Tree:
    """The language model of those with experts."""
    c.ignore("intermediate_size", "norm_topk_prob")
    return _with_mtp(c, _model(c, {"moe": experts(c, 8)}, ["moe"] * n_layers(c)))


def full_layers(c: Config, count: int, known: Mapping[str, str] = LAYERS) -> list[str]:
    """Attention in every fourth layer, or as the file says."""
    interval = sized(c, "full_attention_interval", 4)
    return kinds(c, count, lambda i: "linear" if (i + 1) % interval else "full", known=known)


def gated_delta(c: Config) -> Tree:
    """arXiv:2412.06464, by the keys and the defaults that Qwen has for it."""
    return {
        "kind": "gated_delta",
        "n_k_heads": sized(c, "linear_num_key_heads", 16),
        "n_v_heads": sized(c, "linear_num_value_heads", 32),
        "k_dim": sized(c, "linear_key_head_dim", 128),
        "v_dim": sized(c, "linear_value_head_dim", 128),
        "d_conv": sized(c, "linear_conv_kernel_dim", 4),
    }


def gated_attention(c: Config, kv_heads: int) -> Tree:
    """Gated attention over heads of 256, q and k normalised by head (arXiv:2505.06708)."""
    bias = c.flag("attention_bias", default=False)
    return attention(
        c, head_dim=256, kv_default=kv_heads, bias=bias, qk_norm="head", gated=True
    )  # fmt: skip


def _model(c: Config, ffns: dict[str, Tree], ffn_of: list[str], kv_heads: int = 2) -> Tree:
    c.ignore("attn_output_gate", "mamba_ssm_dtype")
    mixers = {
        "linear": {"ssm": gated_delta(c)},
        "full": {"attention": gated_attention(c, kv_heads)},
    }
    mixer_of = full_layers(c, len(ffn_of))
    blocks, layers = grid(mixers, mixer_of, ffns, ffn_of, norm="rms")
    return decoder(c, blocks, layers, tied=False)


def text_of(c: Config, build: Callable[[Config], Tree]) -> Tree:
    """The language model, stated within the whole or alone; tied as the class that is read says."""
    if not c.has("text_config"):
        return build(c)
    c.ignore("vision_start_token_id", "vision_end_token_id", "language_model_only")
    tied = False if c.task == "conditional" else None
    c.ignore("tie_word_embeddings")
    return text_model(c, build, "the vision tower", tied=tied)


def experts(c: Config, top_k: int) -> Tree:
    """Experts, and one behind a gate that every token uses."""
    c.ignore("norm_topk_prob")
    width = sized(c, "shared_expert_intermediate_size", 512)
    return mixture(
        c, n_experts=("num_experts",), top_k_default=top_k, shared=1, d_shared=width,
        shared_gate=True,
    )  # fmt: skip


def _with_mtp(c: Config, tree: Tree) -> Tree:
    """A layer with attention predicts one token more, behind a projection of two inputs."""
    c.ignore("mtp_use_dedicated_embeddings", "mlp_only_layers")
    count = c.count("mtp_num_hidden_layers", default=0)
    if not count:
        return tree
    if count > 1 or "full" not in tree["blocks"]:
        return noted(tree, "left out: the multi-token-prediction layers")
    norms = ("hidden_norm", "embedding_norm", "norm")
    tensors: Tree = {name: {"use": "norm", "dims": ["d_model"]} for name in norms}
    tensors["project"] = {"use": "matmul", "dims": ["d_model", 2 * tree["d_model"]]}
    return tree | {"mtp": {"n_modules": 1, "block": "full", "tensors": tensors}}
