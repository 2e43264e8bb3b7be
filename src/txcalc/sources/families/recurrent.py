"""Recurrences beside Mamba's: RecurrentGemma, RWKV-4, xLSTM."""

from __future__ import annotations

from fractions import Fraction

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers, uniform
from txcalc.sources.readers.parts import attention
from txcalc.sources.readers.trees import given, untied


def recurrent_gemma(c: Config) -> Tree:
    """arXiv:2404.07839 (Griffin, arXiv:2402.19427): two RG-LRUs, then attention with a window."""
    c.ignore("layer_types", "layers_block_type")
    d_model, heads = c.size("hidden_size"), c.size("num_attention_heads")
    width = c.size("lru_width", default=d_model)
    recurrence = {
        "kind": "rg_lru",
        "d_inner": width,
        "n_gate_blocks": heads,
        "gate_dim": width // heads,
        "d_conv": c.stated("conv1d_width", 4),
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
    d_model = c.size("hidden_size")
    block = {
        "norm": "layer",
        "ssm": {"kind": "rwkv", "d_inner": c.size("attention_hidden_size", default=d_model)},
        "ffn": {"kind": "channel_mixing", "d_ff": c.size("intermediate_size", default=4 * d_model)},
    }
    limit = ("context_length", "max_position_embeddings")
    return uniform(c, block, embedding_norm="layer", final_norm="layer", limit=limit)


def xlstm(c: Config) -> Tree:
    """arXiv:2503.13427.  The head is never tied."""
    c.ignore("add_out_norm", "weight_mode", "mode", "chunk_size", "inference_state_dtype")
    c.ignore("vocab_pad")
    d_model = c.size("hidden_size", "embedding_dim")
    bias = c.flag("use_bias", default=False)
    memory = {
        "kind": "mlstm",
        "n_heads": c.stated("num_heads", 8),
        "d_qk": _share(c, d_model, "qk_dim_factor", "0.5"),
        "d_v": _share(c, d_model, "v_dim_factor", "1.0"),
    }
    multiple = c.stated("ffn_round_up_to_multiple_of", 64)
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


def _share(c: Config, d_model: int, name: str, default: str) -> int:
    """A part of d_model, rounded down as floating point has it."""
    return int(d_model * float(c.number(name, default=Fraction(default))))
