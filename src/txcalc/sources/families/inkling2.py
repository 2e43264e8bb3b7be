"""Inkling 2, which attends to the outputs of earlier layers too, and its looped kin."""

from __future__ import annotations

from txcalc.sources.families.inkling import (
    HYBRID,
    LIMIT,
    N_EXPERTS,
    biases,
    convolutions,
    sizes,
    text,
)
from txcalc.sources.readers.common import mixture
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers

_EVERY = ("first_", "", "loop_")
_SILENT = ("n_layers_per_attn_res_block", "log_scaling_n_floor", "log_scaling_alpha",
           "qk_l2_clip_threshold", "rel_l2_clip_threshold", "mlp_gate_softcap", "mlp_up_softcap",
           "final_logit_softcapping", "number_of_conv_states")  # fmt: skip


def inkling2_text(c: Config) -> Tree:
    """Residual attention over blocks of layers: the parameters, exactly."""
    return _model(c, heads=48, loops=range(0))


def inkling2_loop_text(c: Config) -> Tree:
    """The same where a span of layers runs several times and passes messages to the next pass."""
    inner = c.inner("loop_config")
    keys = inner or c
    start = keys.count("core_start" if inner else "loop_layer_index_start", default=6)
    end = keys.count("core_end" if inner else "loop_layer_index_end", default=18)
    rank = keys.size("gate_rank" if inner else "loop_gate_rank", default=64)
    keys.ignore("num_passes" if inner else "loop_num_passes")
    if not 0 < start <= end:
        c.refuse("loop_layer_index_start", f"layers {start} to {end} are no span after the first")
    tree = _model(c, heads=24, loops=range(start, end), rank=rank)
    messages = {"use": "elementwise", "dims": [4, "d_model"], "copies": end - start}
    return tree | {"tensors": tree["tensors"] | ({"messages": messages} if end > start else {})}


def _model(c: Config, *, heads: int, loops: range, rank: int = 0) -> Tree:
    """Layers of two kinds, the first and the looped ones apart."""
    count = n_layers(c)
    of = kinds(c, count, lambda i: "sliding" if (i + 1) % 6 else "full", known=HYBRID)
    c.ignore(*_SILENT)
    layers = [
        ("first_" if i == 0 else "loop_" if i in loops else "") + kind for i, kind in enumerate(of)
    ]
    mixers = {
        place + kind: _mixer(
            c, kind, heads, first=place == "first_", rank=rank * (place == "loop_")
        )
        for kind in HYBRID.values()
        for place in _EVERY
    }
    experts = mixture(
        c,
        n_experts=N_EXPERTS,
        top_k_default=8,
        width=["moe_intermediate_size", "intermediate_size"],
        router_bias="buffer",
    )
    blocks = grid(mixers, layers, {"moe": experts}, ["moe"] * count, norm="rms", partial=True)
    final = {"final_query": {"use": "elementwise", "dims": ["d_model"]}}
    tree = decoder(c, *blocks, tied=False, limit=LIMIT, tensors=final)
    return text(c, tree, n_outputs=c.size("unpadded_vocab_size", default=200058))


def _mixer(c: Config, kind: str, heads: int, *, first: bool, rank: int) -> Tree:
    part = sizes(c, kind, heads=heads, kv_heads=8, window_default=1024)
    extent, n, kv = part.pop("extent"), part["n_heads"], part["n_kv_heads"]
    kv_width = kv * part["head_dim"]
    scales = {
        "q_scale": {"use": "elementwise", "dims": [n, part["head_dim"]]},
        "relative_scale": {"use": "elementwise", "dims": [n, c.size("d_rel", default=16)]},
        "sinks": {"use": "matmul", "dims": [n, "d_model"]},
    }
    queries = (1 if first else 2) if kind == "sliding" else (1 if first else 4)
    return {
        "attention": {"kind": "gqa", "gated": True, **part},
        "tensors": {
            **scales,
            **biases(c, n, extent),
            **convolutions(c, attention_conv="d_model", ffn_conv="d_model"),
            **(
                _dynamic(c, kv, kv_width)
                if kind == "full"
                else convolutions(c, k_conv=kv_width, v_conv=kv_width)
            ),
            "residual_queries": {"use": "elementwise", "dims": ["d_model"], "copies": queries},
            **(_gates(c, rank) if rank else {}),
        },
    }


def _dynamic(c: Config, kv_heads: int, kv_width: int) -> Tree:
    """Convolutions of k and v whose filters a token changes, and norms of q, k and v apart."""
    taps = c.size("conv_kernel_size", "sconv_kernel_size", default=4)
    return {
        **convolutions(c, k_conv=kv_width, v_conv=kv_width),
        "conv_changes": {"use": "matmul", "dims": [kv_heads * taps, "d_model"], "copies": 2},
        "further_norms": {"use": "norm", "dims": ["d_model"], "copies": 2},
    }


def _gates(c: Config, rank: int) -> Tree:
    """What the messages of q, k, v and the FFN are kept and let through by."""
    return {
        "gate_down": {"use": "matmul", "dims": [rank, 2 * c.size("hidden_size")], "copies": 4},
        "gate_up": {"use": "matmul", "dims": ["d_model", rank], "copies": 8},
    }
