"""Qwen3-Next and Qwen 3.5: the gated delta rule in most layers, gated attention in the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from txcalc.sources.families.composite import text_model
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import dense_or_sparse, mixture
from txcalc.sources.readers.parts import attention, glu
from txcalc.sources.readers.state_spaces import DELTA, gated_delta
from txcalc.sources.readers.trees import noted, tensor


def qwen3_next(c: Config) -> Tree:
    """Experts in every layer, or in every n-th, and one that every token uses behind a gate."""
    step, n_experts = c.stated("decoder_sparse_step", 1), c.count("num_experts", default=512)
    ffn_of = dense_or_sparse(c, n_layers(c), step, n_experts)
    networks = {"moe": experts(c, 10)} if "moe" in ffn_of else {}
    networks |= {"dense": glu(c)} if "dense" in ffn_of else {}
    c.ignore("use_sliding_window", "sliding_window", "max_window_layers", "intermediate_size")
    c.ignore("num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size")
    return _model(c, networks, ffn_of)


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
    c.ignore("intermediate_size")
    return _with_mtp(c, _model(c, {"moe": experts(c, 8)}, ["moe"] * n_layers(c)))


def full_layers(c: Config, count: int, known: Mapping[str, str] = DELTA) -> list[str]:
    """Attention in every fourth layer, or as the file says."""
    interval = c.stated("full_attention_interval", 4)
    return kinds(c, count, lambda i: "linear" if (i + 1) % interval else "full", known=known)


def gated_attention(c: Config, kv_heads: int) -> Tree:
    """Gated attention over heads of 256, q and k normalised by head (arXiv:2505.06708)."""
    return attention(c, head_dim=256, kv_default=kv_heads, qk_norm="head", gated=True)


def _model(c: Config, networks: dict[str, Tree], ffn_of: list[str], kv_heads: int = 2) -> Tree:
    c.ignore("attn_output_gate", "mamba_ssm_dtype")
    mixers = {
        "linear": {"ssm": gated_delta(c)},
        "full": {"attention": gated_attention(c, kv_heads)},
    }
    blocks = grid(mixers, full_layers(c, len(ffn_of)), networks, ffn_of, norm="rms")
    return decoder(c, *blocks, tied=False)


def text_of(c: Config, build: Callable[[Config], Tree]) -> Tree:
    """The language model, stated within the whole or alone; tied as the class that is read says."""
    if not c.has("text_config"):
        return build(c)
    tied = False if c.task == "conditional" else None
    c.ignore("tie_word_embeddings", "language_model_only")
    return text_model(c, build, "the vision tower", tied=tied)


def experts(c: Config, top_k: int) -> Tree:
    """Experts, and one behind a gate that every token uses."""
    width = c.stated("shared_expert_intermediate_size", 512)
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
    tensors: Tree = {name: tensor("norm", "d_model") for name in norms}
    tensors["project"] = tensor("matmul", "d_model", "2*d_model")
    return tree | {"mtp": {"n_modules": 1, "block": "full", "tensors": tensors}}
