"""Llama 4."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, glu, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import ffns
from txcalc.sources.readers.layers import ATTENTION, by_layer, decoder, grid, kinds, n_layers

_KINDS = {**ATTENTION, "chunked_attention": "chunked"}


def llama4_text(c: Config) -> Tree:
    """Attention within chunks but in every fourth layer; one shared expert beside one routed."""
    count, bias = n_layers(c), c.flag("attention_bias", default=False)
    chunk = window(c, 8192, "attention_chunk_size")
    mixers = {
        name: {"attention": attention(c, kv_default=8, head_dim=128, bias=bias, chunk=size)}
        for name, size in {"full": None, "chunked": chunk}.items()
    }
    ffn_of = _ffns(c, count)
    found = ffns(c, ffn_of, lambda: glu(c, width="intermediate_size_mlp"), lambda: _experts(c))
    c.ignore("intermediate_size_mlp", "use_qk_norm")
    blocks = grid(mixers, _mixers(c, count), found, ffn_of, norm="rms")
    return decoder(c, *blocks, tied=False)


def _experts(c: Config) -> Tree:
    names, width = ["num_local_experts"], ["intermediate_size"]
    return mixture(c, n_experts=names, top_k_default=1, width=width, shared=1)


def _mixers(c: Config, count: int) -> list[str]:
    """Layers without rotation meet all keys, unless the file lists the kinds."""
    step = c.size("no_rope_layer_interval", default=4)
    rotated = c.flags("no_rope_layers")
    if rotated and len(rotated) != count:
        c.refuse("no_rope_layers", f"{len(rotated)} entries for {count} layers")
    rotates = rotated or [(i + 1) % step != 0 for i in range(count)]
    return kinds(c, count, lambda i: "chunked" if rotates[i] else "full", known=_KINDS)


def _ffns(c: Config, count: int) -> list[str]:
    listed = c.sizes("moe_layers")
    step = c.size("interleave_moe_layer_step", default=1)
    if listed is None:
        return by_layer(count, lambda i: "dense" if (i + 1) % step else "moe")
    chosen = set(listed)
    return by_layer(count, lambda i: "moe" if i in chosen else "dense")
