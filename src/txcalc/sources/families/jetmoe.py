"""JetMoE."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers


def jetmoe(c: Config) -> Tree:
    """arXiv:2404.07413: experts in attention and FFN, the same number of both.

    The query heads follow from the experts that a token uses, whatever the file says of them.
    """
    c.ignore("num_attention_heads")
    experts = {
        "n_experts": c.size("num_local_experts"),
        "top_k": c.size("num_experts_per_tok", default=2),
    }
    heads = {
        "n_kv_heads": c.size("num_key_value_heads", default=16),
        "head_dim": c.size("kv_channels", "head_dim", default=128),
    }
    block = {
        "norm": "rms",
        "attention": {"kind": "moa", **experts, **heads, "bias": True},
        "ffn": {"kind": "moe", **experts, "d_expert": c.size("intermediate_size")},
        "tensors": {"ffn_bias": {"use": "bias", "dims": ["d_model"]}},
    }
    return decoder(c, {"moe": block}, n_layers(c), tied=True)
