"""Attention and Mamba in turn or side by side: Jamba, Bamba, Falcon-H1, Granite 4, Nemotron-H."""

from __future__ import annotations

from txcalc.sources.families.mamba import FULL, LINEAR, heads, layer_key, mamba1_of, mamba2_of
from txcalc.sources.readers.common import attention, glu, mixture, noted, on, plain, sized, untied
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, grid, kinds, n_layers, uniform

_SUB_LAYERS = (
    "mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups", "mamba_n_groups",
    "conv_kernel", "mamba_d_conv", "use_conv_bias", "mamba_conv_bias", "use_bias",
    "num_attention_heads", "num_key_value_heads", "head_dim", "attention_head_dim",
    "intermediate_size", "mlp_bias", "n_routed_experts", "num_local_experts",
    "num_experts_per_tok", "moe_intermediate_size", "moe_shared_expert_intermediate_size",
    "moe_latent_size", "n_shared_experts", "moe_shared_expert_overlap", "routed_scaling_factor",
    "n_group", "topk_group", "norm_topk_prob",
)  # fmt: skip
"""Keys of sub-layers, which a file may state of some that it has not."""
_GRANITE_EXPERTS = ("num_local_experts", "num_experts")


def jamba(c: Config) -> Tree:
    """arXiv:2403.19887: one layer of a period has attention, one of another has experts."""
    count = n_layers(c)
    mixer_of = _periodic(c, count, "attn_layer", 8, 4, hit="full", miss="mamba")
    ffn_of = _periodic(c, count, "expert_layer", 2, 1, hit="moe", miss="dense")
    experts = ("num_experts", "num_local_experts")
    if c.count(*experts, default=16) < 2:
        ffn_of = ["dense"] * count
    ffns = {"dense": glu(c)}
    if "moe" in ffn_of:
        ffns["moe"] = mixture(c, n_experts=experts, top_k_default=2, width=("intermediate_size",))
    mixers = {
        "full": {"attention": attention(c, kv_default=8)},
        "mamba": {"ssm": mamba1_of(c, inner_norms=True)},
    }
    c.ignore("num_logits_to_keep", "sliding_window", "num_experts_per_tok")
    _agree(c, mixer_of)
    blocks, layers = grid(mixers, mixer_of, ffns, ffn_of, norm="rms")
    return decoder(c, blocks, layers, tied=False)


def bamba(c: Config) -> Tree:
    """IBM's Bamba: Mamba-2, and attention in the layers that are listed."""
    count = n_layers(c)
    listed = set(c.sizes("attn_layer_indices") or ())
    layers = by_layer(count, lambda i: "full" if i in listed else "mamba")
    _agree(c, layers)
    bias = c.flag("attention_bias", default=False)
    mixers: dict[str, Tree] = {
        "full": {"attention": attention(c, kv_default=8, bias=bias)},
        "mamba": {"ssm": mamba2_of(c)},
    }
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    c.ignore("num_logits_to_keep", "z_loss_coefficient", "attn_rotary_emb")
    blocks = {name: {"norm": "rms", **mixer, "ffn": ffn} for name, mixer in mixers.items()}
    return decoder(c, blocks, layers, tied=False)


def falcon_h1(c: Config) -> Tree:
    """arXiv:2507.22448: attention and Mamba-2 side by side behind one norm."""
    c.ignore("num_logits_to_keep", "mamba_norm_before_gate", "mamba_use_mlp", "mamba_expand")
    ends = ("in", "out")
    c.ignore("lm_head_multiplier", "embedding_multiplier", "mlp_multipliers", "key_multiplier")
    c.ignore(
        "ssm_multipliers", *(f"{p}_{e}_multiplier" for p in ("attention", "ssm") for e in ends)
    )
    c.ignore("mlp_expansion_factor")
    c.ignore("mamba_d_ssm")
    ways = {"in": "mamba_proj_bias", "out": "projectors_bias"}
    bias = [way for way, name in ways.items() if on(c, name, default=False)]
    ssm = mamba2_of(
        c,
        None if c.null("mamba_d_ssm") else sized(c, "mamba_d_ssm", 1024),
        bias=bias,
        gated_norm=on(c, "mamba_rms_norm", default=False),
    )
    attend = attention(c, kv_default=8, bias=c.flag("attention_bias", default=False))
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    return uniform(c, {"norm": "rms", "attention": attend, "ssm": ssm, "ffn": ffn})


def granitemoehybrid(c: Config) -> Tree:
    """Granite 4: a shared FFN in every layer, beside experts where there are any."""
    c.ignore("attention_multiplier", "embedding_multiplier", "residual_multiplier", "init_method")
    c.ignore("logits_scaling", "position_embedding_type", "normalization_function")
    known = LINEAR | FULL
    layers = kinds(c, n_layers(c), lambda _: "mamba", key=layer_key(c), known=known)
    width, names = c.count("shared_intermediate_size", default=1024), _GRANITE_EXPERTS
    c.ignore("intermediate_size", "num_experts_per_tok")
    if c.null(names[0]) or c.count(*names, default=8):
        ffn = mixture(c, n_experts=names, top_k_default=2, width=("intermediate_size",),
                      shared=1 if width else 0, d_shared=width)  # fmt: skip
    else:
        ffn = {"kind": "glu", "d_ff": c.size("shared_intermediate_size", default=1024)}
    bias = c.flag("attention_bias", default=False)
    mixers: dict[str, Tree] = {
        "mamba": {"ssm": mamba2_of(c)},
        "full": {"attention": attention(c, bias=bias)},
    }
    blocks = {name: {"norm": "rms", **mixer, "ffn": ffn} for name, mixer in mixers.items()}
    return decoder(c, blocks, layers, tied=False)


def nemotron_h(c: Config) -> Tree:
    """arXiv:2504.03624 and 2512.20856: every layer is one sub-layer.  The head is never tied."""
    c.ignore("attention_bias", "mamba_proj_bias", "mamba_ssm_cache_dtype", "mamba_hidden_act")
    c.ignore("chunk_size", "expand", "mamba_expand", "residual_in_fp32", "rescale_prenorm_residual")
    c.ignore("sliding_window", "use_mamba_kernels", "num_logits_to_keep", "mlp_hidden_act")
    c.ignore(*(f"time_step_{end}" for end in ("rank", "min", "max", "floor", "limit")))
    c.ignore(*_SUB_LAYERS)
    layers = _sub_layers(c)
    build = {
        "mamba": lambda: {"ssm": _nemotron_mamba(c)},
        "full": lambda: {"attention": _nemotron_attention(c)},
        "dense": lambda: {"ffn": plain(c, bias=c.flag("mlp_bias", default=False))},
        "moe": lambda: {"ffn": _nemotron_experts(c)},
    }
    blocks = {name: {"norm": "rms", **build[name]()} for name in dict.fromkeys(layers)}
    modules = c.count("num_nextn_predict_layers", default=0)
    c.ignore("mtp_hybrid_override_pattern", "mtp_layers_block_type")
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


def _nemotron_mamba(c: Config) -> Tree:
    n_heads, width = sized(c, "mamba_num_heads", 128), sized(c, "mamba_head_dim", 64)
    return {
        "kind": "mamba2",
        **heads(c, n_heads * width, "mamba_num_heads", 128, "mamba_head_dim", 64),
        "d_state": sized(c, "ssm_state_size", 128),
        "n_groups": c.size("n_groups", "mamba_n_groups", default=8),
        "d_conv": c.size("conv_kernel", "mamba_d_conv", default=4),
        "conv_bias": c.flag("use_conv_bias", "mamba_conv_bias", default=True),
        "bias": c.flag("use_bias", default=False),
    }


def _nemotron_attention(c: Config) -> Tree:
    width, older = sized(c, "head_dim", 128), c.maybe("attention_head_dim")
    if older not in (None, width):
        c.refuse("attention_head_dim", f"{older}, but the class reads head_dim, which is {width}")
    return attention(c, head_dim=width, kv_default=8)


def _nemotron_experts(c: Config) -> Tree:
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


def _agree(c: Config, layers: list[str]) -> None:
    """Refuses a list of layers that contradicts the rule that a type has for them."""
    key = layer_key(c)
    listed = c.words(key, length=len(layers))
    if listed and [(LINEAR | FULL).get(kind) for kind in listed] != layers:
        c.refuse(key, "it contradicts the keys from which this type derives its layers")


def _periodic(
    c: Config, count: int, key: str, period: int, offset: int, *, hit: str, miss: str
) -> list[str]:
    period = sized(c, f"{key}_period", period)
    offset = c.count(f"{key}_offset", default=offset)
    if offset >= period:
        c.refuse(f"{key}_offset", f"{offset} is not below {key}_period, {period}")
    return by_layer(count, lambda i: hit if i % period == offset else miss)
