"""NVIDIA's Nemotron."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder
from txcalc.sources.readers.mixtures import mixture
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, plain
from txcalc.sources.readers.state_spaces import FULL, LINEAR, layer_key, ssm_heads
from txcalc.sources.readers.trees import noted, untied


def nemotron(c: Config) -> Tree:
    """arXiv:2402.16819: LayerNorm, squared ReLU between two matrices, biases by flag."""
    return modern(c, norm="layer", ffn=plain(c, bias="mlp_bias"))


_SUB_LAYERS = (
    "mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups", "mamba_n_groups",
    "conv_kernel", "mamba_d_conv", "use_conv_bias", "mamba_conv_bias", "use_bias",
    "num_attention_heads", "num_key_value_heads", "head_dim", "attention_head_dim",
    "intermediate_size", "mlp_bias", "n_routed_experts", "num_local_experts",
    "num_experts_per_tok", "moe_intermediate_size", "moe_shared_expert_intermediate_size",
    "moe_latent_size", "n_shared_experts", "moe_shared_expert_overlap",
)  # fmt: skip
"""Keys of sub-layers, which a file may state of some that it has not."""


def nemotron_h(c: Config) -> Tree:
    """arXiv:2504.03624 and 2512.20856: every layer is one sub-layer.  The head is never tied."""
    c.ignore("attention_bias", "mamba_proj_bias", "mamba_ssm_cache_dtype", "chunk_size", "expand")
    c.ignore("mamba_expand", "sliding_window", "time_step_rank", *_SUB_LAYERS)
    c.ignore("mtp_hybrid_override_pattern", "mtp_layers_block_type")
    layers = _sub_layers(c)
    build = {
        "mamba": lambda: {"ssm": _mamba(c)},
        "full": lambda: {"attention": _attention(c)},
        "dense": lambda: {"ffn": plain(c, bias="mlp_bias")},
        "moe": lambda: {"ffn": _experts(c)},
    }
    blocks = {name: {"norm": "rms", **build[name]()} for name in dict.fromkeys(layers)}
    modules = c.count("num_nextn_predict_layers", default=0)
    tree = untied(decoder(c, blocks, layers, tied=False))
    return noted(tree, "left out: the multi-token-prediction layers" if modules else None)


def _sub_layers(c: Config) -> list[str]:
    known = LINEAR | FULL | {"moe": "moe", "mlp": "dense"}
    letters = {"M": "mamba", "*": "full", "E": "moe", "-": "dense"}
    key = layer_key(c)
    listed = c.words(key)
    layers = [known.get(k) or c.refuse(key, f"{k!r} is not modelled") for k in listed or ()]
    key, pattern = "hybrid_override_pattern", c.word("hybrid_override_pattern", default="")
    spelt = [letters.get(k) or c.refuse(key, f"{k!r} is not modelled") for k in pattern]
    if layers and spelt and layers != spelt:
        c.refuse(key, "it contradicts the list of layers")
    layers = layers or spelt or c.refuse(key, "missing, but it is needed: the kind of each layer")
    if c.count("num_hidden_layers", default=len(layers)) != len(layers):
        c.refuse("num_hidden_layers", f"{len(layers)} layers are listed")
    return layers


def _mamba(c: Config) -> Tree:
    n_heads, width = c.stated("mamba_num_heads", 128), c.stated("mamba_head_dim", 64)
    return {
        "kind": "mamba2",
        **ssm_heads(c, n_heads * width, "mamba_num_heads", 128, "mamba_head_dim", 64),
        "d_state": c.stated("ssm_state_size", 128),
        "n_groups": c.size("n_groups", "mamba_n_groups", default=8),
        "d_conv": c.size("conv_kernel", "mamba_d_conv", default=4),
        "conv_bias": c.flag("use_conv_bias", "mamba_conv_bias", default=True),
        "bias": c.flag("use_bias", default=False),
    }


def _attention(c: Config) -> Tree:
    width, older = c.stated("head_dim", 128), c.maybe("attention_head_dim")
    if older not in (None, width):
        c.refuse("attention_head_dim", f"{older}, but the class reads head_dim, which is {width}")
    return attention(c, head_dim=width, kv_default=8, bias=False)


def _experts(c: Config) -> Tree:
    return mixture(
        c,
        n_experts=("n_routed_experts", "num_local_experts"),
        top_k_default=2,
        shared=1,
        d_shared=c.size("moe_shared_expert_intermediate_size"),
        d_latent=c.maybe("moe_latent_size"),
        expert="plain",
        router_bias="buffer",
        shared_bias=c.flag("mlp_bias", default=False),
    )
