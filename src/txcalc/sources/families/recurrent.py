"""Recurrences beside Mamba's: RecurrentGemma, RWKV-4, xLSTM, MiniMax-01, OLMo Hybrid."""

from __future__ import annotations

from fractions import Fraction

from txcalc.sources.families.mamba import FULL
from txcalc.sources.families.qwen_next import LAYERS
from txcalc.sources.readers.common import attention, given, glu, mixture, sized, untied, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, kinds, n_layers, uniform


def recurrent_gemma(c: Config) -> Tree:
    """arXiv:2404.07839 (Griffin, arXiv:2402.19427): two RG-LRUs, then attention with a window."""
    c.ignore("logits_soft_cap", "w_init_variance_scale", "final_w_init_variance_scale")
    c.ignore("embeddings_scale_by_sqrt_dim", "partial_rotary_factor")
    c.ignore("layer_types", "layers_block_type")
    d_model, heads = c.size("hidden_size"), c.size("num_attention_heads")
    width = c.size("lru_width", default=d_model)
    recurrence = {
        "kind": "rg_lru",
        "d_inner": width,
        "n_gate_blocks": heads,
        "gate_dim": width // heads,
        "d_conv": sized(c, "conv1d_width", 4),
    }
    span = c.size("attention_window_size", "sliding_window", default=2048)
    bias = c.flag("attention_bias", default=False) or ["o"]
    mixers: dict[str, Tree] = {
        "recurrent": {"ssm": recurrence},
        "attention": {"attention": attention(c, bias=bias, window=span)},
    }
    ffn = {"kind": "glu", "d_ff": c.size("intermediate_size") // 2, "bias": True}
    cycle = c.words("block_types", "_block_types") or ["recurrent", "recurrent", "attention"]
    for kind in cycle:
        if kind not in mixers:
            c.refuse("block_types", f"{kind!r} is not modelled")
    names = {"recurrent": "recurrent", "attention": "sliding"}
    layers = [names[cycle[i % len(cycle)]] for i in range(n_layers(c))]
    blocks = {names[k]: {"norm": "rms", **mixer, "ffn": ffn} for k, mixer in mixers.items()}
    return decoder(c, blocks, layers, tied=True)


def rwkv(c: Config) -> Tree:
    """arXiv:2305.13048, version 4: a norm before the first layer."""
    c.ignore("rescale_every")
    d_model = c.size("hidden_size")
    block = {
        "norm": "layer",
        "ssm": {"kind": "rwkv", "d_inner": c.size("attention_hidden_size", default=d_model)},
        "ffn": {
            "kind": "channel_mixing",
            "d_ff": c.size("intermediate_size", default=4 * d_model),
        },
    }
    limit = ("context_length", "max_position_embeddings")
    tree = uniform(c, block, final_norm="layer", limit=limit)
    tree["layers"]["embedding_norm"] = "layer"
    return tree


def xlstm(c: Config) -> Tree:
    """arXiv:2503.13427.  The head is never tied."""
    c.ignore("norm_reduction_force_float32", "add_out_norm", "weight_mode", "gate_soft_cap", "eps")
    c.ignore("output_logit_soft_cap", "mode", "chunk_size", "max_inference_chunksize")
    c.ignore("return_last_states", "autocast_kernel_dtype", "inference_state_dtype", "vocab_pad")
    c.ignore("chunkwise_kernel", "sequence_kernel", "step_kernel", "norm_eps")
    d_model = c.size("hidden_size", "embedding_dim")
    bias = c.flag("use_bias", default=False)
    memory = {
        "kind": "mlstm",
        "n_heads": sized(c, "num_heads", 8),
        "d_qk": _share(c, d_model, "qk_dim_factor", "0.5"),
        "d_v": _share(c, d_model, "v_dim_factor", "1.0"),
    }
    multiple = sized(c, "ffn_round_up_to_multiple_of", 64)
    widened = float(c.number("ffn_proj_factor", default=Fraction("2.667"))) * d_model
    d_ff = int((widened + multiple - 1) // multiple) * multiple
    block = {
        "norm": "layer" if bias else "rms",
        "ssm": memory | given(bias=bias),
        "ffn": {"kind": "glu", "d_ff": d_ff} | given(bias=bias),
    }
    count = n_layers(c, "num_blocks", "num_hidden_layers")
    width = ("hidden_size", "embedding_dim")
    return untied(decoder(c, {"mlstm": block}, count, tied=False, width=width))


def minimax(c: Config) -> Tree:
    """arXiv:2501.08313: lightning attention, or softmax attention, over experts."""
    ends = ("alpha_factor", "beta_factor")
    c.ignore("block_size", *(f"{p}_{e}" for p in ("full_attn", "linear_attn", "mlp") for e in ends))
    known = LAYERS
    return _minimax(c, kinds(c, n_layers(c), lambda i: "linear" if i % 2 else "full", known=known))


def minimax_text_01(c: Config) -> Tree:
    """The same in the form of MiniMax's own files: a list of 0 (lightning) and 1 (softmax)."""
    scaled = ("full_attention", "linear_attention", "mlp")
    c.ignore(*(f"layernorm_{part}_{end}" for part in scaled for end in ("alpha", "beta")))
    c.ignore("postnorm", "rotary_dim", "shared_moe_mode")
    softmax = c.flags("attn_type_list", length=n_layers(c))
    if softmax is None:
        c.refuse("attn_type_list", "missing, but it is needed: the kind of each layer")
    if c.raw("shared_intermediate_size") not in (None, 0, [0]):
        c.unsupported("a shared expert of this type")
    return _minimax(c, ["full" if kind else "linear" for kind in softmax])


def _minimax(c: Config, layers: list[str]) -> Tree:
    attend = attention(c, kv_default=8, window=window(c))
    width = attend.get("head_dim") or c.size("hidden_size") // attend["n_heads"]
    lightning = {"kind": "lightning", "n_heads": attend["n_heads"], "head_dim": width}
    experts = mixture(
        c, n_experts=("num_local_experts", "num_experts"), top_k_default=2,
        width=("intermediate_size",),
    )  # fmt: skip
    mixers: dict[str, Tree] = {"full": {"attention": attend}, "linear": {"ssm": lightning}}
    blocks = {name: {"norm": "rms", **mixer, "ffn": experts} for name, mixer in mixers.items()}
    return decoder(c, blocks, layers, tied=False)


def olmo_hybrid(c: Config) -> Tree:
    """OLMo Hybrid: the delta rule behind norms, attention before them as in OLMo 2."""
    count, heads = n_layers(c), c.size("num_attention_heads")
    every = {i for i in range(count) if i % 4 == 3} or {count - 1}
    known = FULL | {"linear_attention": "linear"}
    layers = kinds(c, count, lambda i: "full" if i in every else "linear", known=known)
    if set(layers) != {"full", "linear"}:
        c.refuse("layer_types", "this type has layers of both kinds")
    n_k_heads = c.size("linear_num_key_heads", default=heads)
    k_dim = c.size("linear_key_head_dim", default=int(0.75 * c.size("hidden_size") / n_k_heads))
    delta = {
        "kind": "gated_delta",
        "n_k_heads": n_k_heads,
        "n_v_heads": c.size("linear_num_value_heads", default=heads),
        "k_dim": k_dim,
        "v_dim": c.size("linear_value_head_dim", default=2 * k_dim),
        "d_conv": sized(c, "linear_conv_kernel_dim", 4),
    }
    c.ignore("linear_allow_neg_eigval", "linear_a_log_min", "linear_a_log_max")
    c.ignore("linear_dt_min", "linear_dt_max", "linear_dt_init_floor")
    attend = attention(c, bias=c.flag("attention_bias", default=False), qk_norm="width")
    ffn = glu(c)
    blocks = {
        "linear": {"norm": "rms", "ssm": delta, "ffn": ffn},
        "full": {"norm": "rms", "placement": "output", "attention": attend, "ffn": ffn},
    }
    return decoder(c, blocks, layers, tied=False)


def _share(c: Config, d_model: int, name: str, default: str) -> int:
    """A part of d_model, rounded down as floating point has it."""
    return int(d_model * float(c.number(name, default=Fraction(default))))
