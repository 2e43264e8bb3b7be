"""DeepSeek-MoE, V2 to V4, and models of their shape: A.X, Sarvam."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import indexer, latent, latent_decoder
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import dense_first, routed, sparse, unknown_modules
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention
from txcalc.sources.readers.trees import tensor


def deepseek(c: Config) -> Tree:
    """arXiv:2401.06066: shared and fine-grained experts over multi-head attention."""
    if not c.has("n_routed_experts"):
        return modern(c)
    count = n_layers(c)
    mixers = {"full": {"attention": attention(c)}}
    ffn_of = dense_first(c, count, 0)
    return sparse(c, mixers, ["full"] * count, ffn_of, lambda: routed(c, shared=0))


def deepseek_v2(c: Config) -> Tree:
    """arXiv:2405.04434: latent attention, shared experts, the first layers dense."""
    bias = c.flag("mlp_bias", default=False)
    attend = latent(c, q_default=1536)
    return latent_decoder(
        c, {"latent": attend}, dense=0, bias=bias, shared=2, router_bias=False, needs_top_k=False
    )


def deepseek_v3(c: Config) -> Tree:
    """arXiv:2412.19437: experts balanced by a buffer, and modules for further tokens."""
    return latent_decoder(c, {"latent": latent(c, q_default=1536)}, dense=3)


def sarvam_mla(c: Config) -> Tree:
    """Sarvam-105B: DeepSeek-V3 without a query latent, one dense layer."""
    return latent_decoder(c, {"latent": latent(c)}, dense=1)


def axk1(c: Config) -> Tree:
    """A.X-K1: DeepSeek-V3 with a norm after each mixture."""
    tree = latent_decoder(c, {"latent": latent(c, q_default=1536)}, dense=1, listed=True)
    for block in tree["blocks"].values():
        if block["ffn"]["kind"] == "moe":
            block["tensors"] = {"after_moe": tensor("norm", "d_model")}
    return tree


def deepseek_v32(c: Config) -> Tree:
    """arXiv:2512.02556: DeepSeek-V3 with an indexer in every layer."""
    attend = latent(c, q_default=1536, indexer=indexer(c, heads=64))
    c.ignore("layer_types", "mlp_bias")
    return latent_decoder(c, {"full": attend}, dense=3, listed=True)


def axk2(c: Config) -> Tree:
    """A.X-K2: DeepSeek-V3.2 with a gate of the output, and norms gated by a narrow network."""
    attend = latent(c, q_default=384, indexer=indexer(c, heads=16), gate="query")
    c.ignore("layer_types", "mlp_bias")
    tree = latent_decoder(c, {"full": attend}, dense=1, listed=True)
    rank = c.size("gated_norm_rank", default=16)
    for block in tree["blocks"].values():
        gated = 2 if block["ffn"]["kind"] == "moe" else 1
        block["tensors"] = {
            "norm_gate_down": tensor("matmul", rank, "d_model", copies=gated),
            "norm_gate_up": tensor("matmul", "d_model", rank, copies=gated),
        }
    return tree


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
    width, biased = (
        ("moe_intermediate_size", "intermediate_size"),
        c.flag("mlp_bias", default=False),
    )
    moe = routed(c, biased=biased, width=width, router_bias="buffer")
    if c.count("n_shared_experts", default=1) != 1:
        c.unsupported("a number of shared experts other than 1 in this type")
    hashed = c.count("num_hash_layers", default=3)
    mixture_of = kinds(
        c, count, lambda i: "hash" if i < hashed else "moe", key="mlp_layer_types", known=_MIXTURES
    )
    by_id = {name: field for name, field in moe.items() if name != "router_bias"}
    networks = {"hash": by_id, "moe": moe}
    blocks, layers = grid(
        mixers, _kinds(c, count), networks, mixture_of, norm="rms", residual=hyper(c)
    )
    for block in blocks.values():
        if block["ffn"] == by_id:
            block["tensors"] = {"expert_ids": tensor("buffer", "vocab", "top_k")}
    c.ignore("num_key_value_heads", "attention_bias", "qk_rope_head_dim", "expert_dtype")
    return decoder(c, blocks, layers, tied=False, **hyper_head(c), **unknown_modules(c))


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
    index = indexer(c, heads=64, top_k=512)
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
    sizes = {}
    for (name, short), default in zip(names.items(), (4, 128), strict=True):
        stated = default if rates is None else rates.size(name)
        sizes[short] = c.size(f"compress_rate_{short}", default=stated)
    return sizes["csa"], sizes["hca"]


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


def hyper(c: Config) -> Tree:
    """Hyper-connections whose streams are mixed, by the keys of all types that have them."""
    c.ignore("hc_sinkhorn_iters", "hc_magnitude")
    return {"kind": "hyper", "n_streams": c.size("hc_mult", default=4), "mixed": True}


def hyper_head(c: Config) -> Tree:
    """The weights by which the head reads the streams."""
    streams = c.size("hc_mult", default=4)
    tensors = {
        "streams": tensor("matmul", streams, f"{streams}*d_model"),
        "streams_bias": tensor("bias", streams),
        "streams_scale": tensor("elementwise", 1),
    }
    return {"tensors": tensors}
