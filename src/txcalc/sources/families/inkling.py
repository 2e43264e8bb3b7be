"""Inkling: short convolutions beside attention, and score biases that each token makes."""

from __future__ import annotations

from txcalc.sources.readers.common import glu, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import FFN, by_layer, decoder, grid, kinds, n_layers

HYBRID = {"hybrid": "full", "hybrid_sliding": "sliding"}
LIMIT = ("max_position_embeddings", "model_max_length")
N_EXPERTS = ("n_routed_experts", "num_local_experts")


def inkling_text(c: Config) -> Tree:
    """The text model: windows with heads of their own in five layers of six, dense layers first.

    The router scores the shared experts too.
    """
    count, local = n_layers(c), c.sizes("local_layer_ids")
    slides = {i for i in range(count) if (i + 1) % 6} if local is None else set(local)
    of = kinds(c, count, lambda i: "sliding" if i in slides else "full", known=HYBRID)
    mixers = {kind: _mixer(c, kind) for kind in HYBRID.values()}
    blocks = grid(mixers, of, _ffns(c), _ffn_of(c, count), norm="rms")
    c.ignore("unpadded_vocab_size", "shared_expert_sink", "num_mtp_layers", "mtp_local_layer_ids")
    return text(c, decoder(c, *blocks, tied=False, limit=LIMIT))


def text(c: Config, tree: Tree, **head: int) -> Tree:
    """The same with normed embeddings and a head of its own, whatever the file says of tying."""
    if "head" in tree:
        tree["head"] = {"tied": False, **head}
    tree["layers"]["embedding_norm"] = "rms"
    return tree


def sizes(c: Config, kind: str, *, heads: int, kv_heads: int, window_default: int) -> Tree:
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


def biases(c: Config, heads: int, extent: int) -> Tree:
    """What makes a token's score biases: a few channels a head, and a profile over distances."""
    channels = c.size("d_rel", default=16)
    return {
        "relative": {"use": "matmul", "dims": [heads * channels, "d_model"]},
        "profiles": {"use": "matmul", "dims": [extent, channels], "repeats": heads},
    }


def convolutions(c: Config, **channels: int | str) -> Tree:
    """Short convolutions over so many channels each, in fp32."""
    taps = c.size("conv_kernel_size", "sconv_kernel_size", default=4)
    return {
        name: {"use": "conv", "dims": [width, taps], "fmt": "fp32"}
        for name, width in channels.items()
    }


def _mixer(c: Config, kind: str) -> Tree:
    """Attention, score biases, and convolutions after k, v, attention and FFN."""
    part = sizes(c, kind, heads=64, kv_heads=16, window_default=512)
    extent, kv_width = part.pop("extent"), part["n_kv_heads"] * part["head_dim"]
    return {
        "attention": {"kind": "gqa", "qk_norm": "head", **part},
        "tensors": {
            **biases(c, part["n_heads"], extent),
            **convolutions(
                c, k_conv=kv_width, v_conv=kv_width, attention_conv="d_model", ffn_conv="d_model"
            ),
            "ffn_scale": {"use": "elementwise", "dims": [1]},
        },
    }


def _ffns(c: Config) -> dict[str, Tree]:
    """Dense and expert FFNs; older files call the experts' width intermediate_size."""
    older = "dense_intermediate_size"
    experts = mixture(
        c,
        n_experts=N_EXPERTS,
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
    found = kinds(c, count, dense.__getitem__, key="mlp_layer_types", known=FFN)
    if "dense" in found and not c.has("dense_intermediate_size"):
        c.size("intermediate_size")
    return found
