"""GLM-5.3: linear layers, latent attention to pools of keys, and hyper-connections."""

from __future__ import annotations

from txcalc.sources.families.deepseek import index_types
from txcalc.sources.families.deepseek_v4 import hyper
from txcalc.sources.families.kimi import kimi_delta
from txcalc.sources.readers.common import glu
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import experts, ffns, indexer, latent, unknown_modules
from txcalc.sources.readers.layers import FFN, decoder, grid, kinds, n_layers

_KINDS = {"linear_attention": "linear", "indexed_attention": "full", "full_attention": "full"}


def glm5_next(c: Config) -> Tree:
    """Three linear layers to a latent one without positions, whose indexer may be shared."""
    count = n_layers(c)
    if c.count("qk_rope_head_dim", default=0):
        c.unsupported("a rotary key in this type")
    index = indexer(c, heads=32) | {"pool": c.size("index_kpool", default=16)}
    if not c.flag("index_kpool_always_select_tail", default=True):
        c.unsupported("a pool of keys that is left out until it is complete")
    met = index["index_top_k"] + index["pool"] - 1
    mixers = {
        "linear": {"ssm": kimi_delta(c, c.inner("linear_attn_config"), heads=64)},
        "full": {"attention": latent(c, q_default=1536, indexer=index)},
        "shared": {"attention": latent(c, q_default=1536, shared_top_k=met)},
    }
    layers = kinds(c, count, lambda i: "full" if i % 4 == 3 else "linear", known=_KINDS)
    mixer_of = [
        index if layer == "full" else layer
        for layer, index in zip(layers, index_types(c, count), strict=True)
    ]
    ffn_of = kinds(
        c, count, lambda i: "moe" if i > 2 else "dense", key="mlp_layer_types", known=FFN
    )
    networks = ffns(c, ffn_of, lambda: glu(c), lambda: experts(c, router_bias="buffer"))
    c.ignore("linear_lower_bound")
    blocks, layers = grid(mixers, mixer_of, networks, ffn_of, norm="rms", residual=hyper(c))
    return decoder(c, blocks, layers, tied=False, **unknown_modules(c))
