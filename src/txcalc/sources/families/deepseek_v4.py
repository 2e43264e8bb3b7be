"""DeepSeek-V4 and Hy4: hyper-connections, and attention to compressed entries or latents."""

from __future__ import annotations

from typing import Any

from txcalc.sources.families.deepseek import INDEXERS
from txcalc.sources.readers.common import glu
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import experts, ffns, indexer, latent, unknown_modules
from txcalc.sources.readers.layers import FFN, decoder, grid, kinds, n_layers

_ATTENTION = {
    "sliding_attention": "sliding",
    "compressed_sparse_attention": "sparse",
    "heavily_compressed_attention": "heavy",
}
_RATIOS = {0: "sliding", 4: "sparse", 128: "heavy"}
_MIXTURES = {"hash_moe": "hash", "moe": "moe"}


def deepseek_v4(c: Config) -> Tree:
    """DeepSeek-V4: windows beside compressed entries, and experts that a token's id picks first."""
    count = n_layers(c)
    mixers = {name: {"attention": part} for name, part in _attention(c).items()}
    moe = experts(c, biased=c.flag("mlp_bias", default=False), width=_WIDTH, router_bias="buffer")
    if c.count("n_shared_experts", default=1) != 1:
        c.unsupported("a number of shared experts other than 1 in this type")
    hashed = c.count("num_hash_layers", default=3)
    mixture_of = kinds(
        c, count, lambda i: "hash" if i < hashed else "moe", key="mlp_layer_types", known=_MIXTURES
    )
    by_id = {k: v for k, v in moe.items() if k != "router_bias"}
    networks = {"hash": by_id, "moe": moe}
    blocks, layers = grid(
        mixers, _kinds(c, count), networks, mixture_of, norm="rms", residual=hyper(c)
    )
    ids = {"expert_ids": {"use": "buffer", "dims": ["vocab", "top_k"]}}
    for block in blocks.values():
        if block["ffn"] == by_id:
            block["tensors"] = ids
    c.ignore("num_key_value_heads", "attention_bias", "qk_rope_head_dim")
    c.ignore("compress_rope_theta", "expert_dtype")
    return decoder(c, blocks, layers, tied=False, **_head(c), **unknown_modules(c))


_WIDTH = ("moe_intermediate_size", "intermediate_size")


def _attention(c: Config) -> dict[str, Tree]:
    """Windows alone, with entries that an indexer picks, and with few entries of long blocks."""
    part = {
        "kind": "compressed",
        "n_heads": c.size("num_attention_heads"),
        "head_dim": c.size("head_dim", default=512),
        "q_rank": c.size("q_lora_rank", default=1024),
        "o_groups": c.size("o_groups", default=8),
        "o_rank": c.size("o_lora_rank", default=1024),
        "window": c.size("sliding_window", default=128),
    }
    index = {
        "index_heads": c.size("index_n_heads", default=64),
        "index_dim": c.size("index_head_dim", default=128),
        "index_top_k": c.size("index_topk", default=512),
    }
    sparse, heavy = _rates(c)
    return {
        "sliding": part,
        "sparse": part | {"block": sparse, "overlap": True, "indexer": index},
        "heavy": part | {"block": heavy},
    }


def _rates(c: Config) -> tuple[int, int]:
    """Tokens of an entry in sparse and in heavily compressed layers."""
    rates = c.inner("compress_rates")
    names = {"compressed_sparse_attention": "csa", "heavily_compressed_attention": "hca"}
    found = {}
    for (name, short), default in zip(names.items(), (4, 128), strict=True):
        stated = default if rates is None else rates.size(name)
        found[short] = c.size(f"compress_rate_{short}", default=stated)
    return found["csa"], found["hca"]


def _kinds(c: Config, count: int) -> list[str]:
    """The attention of each layer: listed, by its ratio, or the published pattern."""
    ratios = c.sizes("compress_ratios")
    if c.has("layer_types") or ratios is None:
        return kinds(c, count, lambda i: "sparse" if i > 1 and i % 2 else "heavy", known=_ATTENTION)
    if len(ratios) < count:
        c.refuse("compress_ratios", f"{len(ratios)} entries for {count} layers")
    return [
        _RATIOS.get(r) or c.refuse("compress_ratios", f"{r} is not modelled")
        for r in ratios[:count]
    ]


def hy_v4(c: Config) -> Tree:
    """Hy4-preview: latent attention with shared indexers and a gate, unmixed hyper-connections."""
    return _hy_v4(c, q_rank=1536, heads=16)


def hy_v4_vl(c: Config) -> Tree:
    """Hy4's text model, the larger one."""
    return _hy_v4(c, q_rank=2048, heads=32)


def _hy_v4(c: Config, *, q_rank: int, heads: int) -> Tree:
    count, index = n_layers(c), indexer(c, heads=heads)
    shape: dict[str, Any] = {"q_default": q_rank, "gate": "channel", "sinks": True}
    mixers = {
        "full": {"attention": latent(c, indexer=index, **shape)},
        "shared": {"attention": latent(c, shared_top_k=index["index_top_k"], **shape)},
    }
    mixer_of = kinds(
        c, count, lambda i: "shared" if i and (i - 1) % 4 else "full", key="indexer_types",
        known=INDEXERS,
    )  # fmt: skip
    ffn_of = kinds(c, count, lambda i: "moe" if i else "dense", key="mlp_layer_types", known=FFN)
    networks = ffns(c, ffn_of, lambda: glu(c), lambda: experts(c, router_bias="buffer"))
    streams = hyper(c) | {"mixed": False}
    blocks, layers = grid(mixers, mixer_of, networks, ffn_of, norm="rms", residual=streams)
    c.ignore("layer_types", "learnable_sink_init")
    return decoder(c, blocks, layers, tied=False, **_head(c), **unknown_modules(c))


def hyper(c: Config) -> Tree:
    """Hyper-connections whose streams are mixed, by the keys of all types that have them."""
    c.ignore("hc_sinkhorn_iters", "hc_eps", "hc_magnitude")
    return {"kind": "hyper", "n_streams": c.size("hc_mult", default=4), "mixed": True}


def _head(c: Config) -> Tree:
    """The weights by which the head reads the streams."""
    streams = c.size("hc_mult", default=4)
    return {
        "tensors": {
            "streams": {"use": "matmul", "dims": [streams, streams * c.size("hidden_size")]},
            "streams_bias": {"use": "bias", "dims": [streams]},
            "streams_scale": {"use": "elementwise", "dims": [1]},
        }
    }
