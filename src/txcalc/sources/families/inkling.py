"""Inkling: short convolutions beside attention, and score biases that each token makes."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import FFN, mixture
from txcalc.sources.readers.parts import glu, window
from txcalc.sources.readers.trees import tensor

_HYBRID = {"hybrid": "full", "hybrid_sliding": "sliding"}
_LIMIT = ("max_position_embeddings", "model_max_length")
_N_EXPERTS = ("n_routed_experts", "num_local_experts")


def inkling_text(c: Config) -> Tree:
    """The text model: windows with heads of their own in five layers of six, dense layers first.

    The router scores the shared experts too.
    """
    count, local = n_layers(c), c.sizes("local_layer_ids")
    slides = {i for i in range(count) if (i + 1) % 6} if local is None else set(local)
    of = kinds(c, count, lambda i: "sliding" if i in slides else "full", known=_HYBRID)
    mixers = {kind: _mixer(c, kind) for kind in _HYBRID.values()}
    blocks = grid(mixers, of, _ffns(c), _ffn_of(c, count), norm="rms")
    c.ignore("unpadded_vocab_size", "shared_expert_sink", "num_mtp_layers", "mtp_local_layer_ids")
    return _text(c, decoder(c, *blocks, tied=False, limit=_LIMIT))


def _text(c: Config, tree: Tree, **head: int) -> Tree:
    """The same with normed embeddings and a head of its own, whatever the file says of tying."""
    if "head" in tree:
        tree["head"] = {"tied": False, **head}
    tree["layers"]["embedding_norm"] = "rms"
    return tree


def _sizes(c: Config, kind: str, *, heads: int, kv_heads: int, window_default: int) -> Tree:
    """Heads of one kind of layer, and how far a token's score biases reach.

    A kind's own keys default to the type's sizes, not to those of the other kind.
    """
    if kind == "full":
        return {
            "n_heads": c.size("num_attention_heads"),
            "n_kv_heads": c.size("num_key_value_heads", default=8),
            "head_dim": c.size("head_dim", default=128),
            "extent": c.size("rel_extent", default=1024),
        }
    keys = window(c, window_default, "sliding_window_size", "sliding_window")
    if keys is None:
        c.refuse("sliding_window_size", "null, but a value is needed")
    return {
        "n_heads": c.size("swa_num_attention_heads", default=heads),
        "n_kv_heads": c.size("swa_num_key_value_heads", default=kv_heads),
        "head_dim": c.size("swa_head_dim", default=128),
        "window": keys,
        "extent": keys,
    }


def _biases(c: Config, heads: int, extent: int) -> Tree:
    """What makes a token's score biases: a few channels a head, and a profile over distances."""
    channels = c.size("d_rel", default=16)
    return {
        "relative": tensor("matmul", heads * channels, "d_model"),
        "profiles": tensor("matmul", extent, channels, repeats=heads),
    }


def _convolutions(c: Config, **channels: int | str) -> Tree:
    """Short convolutions over so many channels each, in fp32."""
    taps = c.size("conv_kernel_size", "sconv_kernel_size", default=4)
    return {name: tensor("conv", width, taps, fmt="fp32") for name, width in channels.items()}


def _mixer(c: Config, kind: str) -> Tree:
    """Attention, score biases, and convolutions after k, v, attention and FFN."""
    part = _sizes(c, kind, heads=64, kv_heads=16, window_default=512)
    extent, kv_width = part.pop("extent"), part["n_kv_heads"] * part["head_dim"]
    return {
        "attention": {"kind": "gqa", "qk_norm": "head", **part},
        "tensors": {
            **_biases(c, part["n_heads"], extent),
            **_convolutions(
                c, k_conv=kv_width, v_conv=kv_width, attention_conv="d_model", ffn_conv="d_model"
            ),
            "ffn_scale": tensor("elementwise", 1),
        },
    }


def _ffns(c: Config) -> dict[str, Tree]:
    """Dense and expert FFNs; older files call the experts' width intermediate_size."""
    older = "dense_intermediate_size"
    experts = mixture(
        c,
        n_experts=_N_EXPERTS,
        top_k_default=6,
        width=["intermediate_size" if c.has(older) else "moe_intermediate_size"],
        shared=c.size("n_shared_experts", default=2),
        shared_gate="each",
        router_bias="buffer",
    )
    c.ignore("moe_intermediate_size", "intermediate_size")
    width = older if c.has(older) else "intermediate_size"
    return {"moe": experts} | ({"dense": glu(c, width=width)} if c.has(width) else {})


def _ffn_of(c: Config, count: int) -> list[str]:
    first = c.count("dense_mlp_idx", default=0)
    dense = by_layer(count, lambda i: "dense" if i < first else "moe")
    layers = kinds(c, count, dense.__getitem__, key="mlp_layer_types", known=FFN)
    if "dense" in layers and not c.has("dense_intermediate_size"):
        c.size("intermediate_size")
    return layers


def inkling2_text(c: Config) -> Tree:
    """Residual attention over blocks of layers: the parameters, exactly."""
    return _inkling2(c, heads=48, loops=range(0))


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
    tree = _inkling2(c, heads=24, loops=range(start, end), rank=rank)
    messages = tensor("elementwise", 4, "d_model", copies=end - start)
    return tree | {"tensors": tree["tensors"] | ({"messages": messages} if end > start else {})}


def _inkling2(c: Config, *, heads: int, loops: range, rank: int = 0) -> Tree:
    """Layers of two kinds, the first and the looped ones apart."""
    count = n_layers(c)
    of = kinds(c, count, lambda i: "sliding" if (i + 1) % 6 else "full", known=_HYBRID)
    c.ignore("n_layers_per_attn_res_block", "number_of_conv_states")
    layers = [
        ("first_" if i == 0 else "loop_" if i in loops else "") + kind for i, kind in enumerate(of)
    ]
    mixers = {
        place + kind: _mixer2(
            c, kind, heads, first=place == "first_", rank=rank * (place == "loop_")
        )
        for kind in _HYBRID.values()
        for place in ("first_", "", "loop_")
    }
    experts = mixture(
        c,
        n_experts=_N_EXPERTS,
        top_k_default=8,
        width=["moe_intermediate_size", "intermediate_size"],
        router_bias="buffer",
    )
    blocks = grid(mixers, layers, {"moe": experts}, ["moe"] * count, norm="rms", partial=True)
    final = {"final_query": tensor("elementwise", "d_model")}
    tree = decoder(c, *blocks, tied=False, limit=_LIMIT, tensors=final)
    return _text(c, tree, n_outputs=c.size("unpadded_vocab_size", default=200058))


def _mixer2(c: Config, kind: str, heads: int, *, first: bool, rank: int) -> Tree:
    part = _sizes(c, kind, heads=heads, kv_heads=8, window_default=1024)
    extent, n, kv = part.pop("extent"), part["n_heads"], part["n_kv_heads"]
    kv_width = kv * part["head_dim"]
    scales = {
        "q_scale": tensor("elementwise", n, part["head_dim"]),
        "relative_scale": tensor("elementwise", n, c.size("d_rel", default=16)),
        "sinks": tensor("matmul", n, "d_model"),
    }
    queries = (1 if first else 2) if kind == "sliding" else (1 if first else 4)
    return {
        "attention": {"kind": "gqa", "gated": True, **part},
        "tensors": {
            **scales,
            **_biases(c, n, extent),
            **_convolutions(c, attention_conv="d_model", ffn_conv="d_model"),
            **(
                _dynamic(c, kv, kv_width)
                if kind == "full"
                else _convolutions(c, k_conv=kv_width, v_conv=kv_width)
            ),
            "residual_queries": tensor("elementwise", "d_model", copies=queries),
            **(_gates(c, rank) if rank else {}),
        },
    }


def _dynamic(c: Config, kv_heads: int, kv_width: int) -> Tree:
    """Convolutions of k and v whose filters a token changes, and norms of q, k and v apart."""
    taps = c.size("conv_kernel_size", "sconv_kernel_size", default=4)
    return {
        **_convolutions(c, k_conv=kv_width, v_conv=kv_width),
        "conv_changes": tensor("matmul", kv_heads * taps, "d_model", copies=2),
        "further_norms": tensor("norm", "d_model", copies=2),
    }


def _gates(c: Config, rank: int) -> Tree:
    """What the messages of q, k, v and the FFN are kept and let through by."""
    return {
        "gate_down": tensor("matmul", rank, "2*d_model", copies=4),
        "gate_up": tensor("matmul", "d_model", rank, copies=8),
    }
