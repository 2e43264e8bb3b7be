"""Granite's mixtures of experts, without state spaces."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.common import attention, attentions, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers


def granitemoe(c: Config) -> Tree:
    """Granite 3.0: Llama's block, 2 of 8 experts unless the file says otherwise."""
    return _every_layer(c, experts(c))


def granitemoeshared(c: Config) -> Tree:
    """Beside the experts one that every token uses."""
    return _every_layer(c, experts(c, **shared(c)))


def granitemoe_swa(c: Config) -> Tree:
    """Windows in three layers of four, and a sink for each head."""
    count, bias = n_layers(c), c.flag("attention_bias", default=False)
    c.ignore("layer_rope_theta")
    mixers = attentions(c, window(c, 128), bias=bias, sinks=True)
    of = kinds(c, count, lambda i: "full" if i % 4 == 0 else "sliding")
    ffns = {"moe": experts(c, **shared(c))}
    return decoder(c, *grid(mixers, of, ffns, ["moe"] * count, norm="rms"), tied=False)


def experts(c: Config, **more: Any) -> Tree:
    """The routed experts, as wide as intermediate_size."""
    c.ignore("embedding_multiplier", "residual_multiplier", "attention_multiplier")
    c.ignore("logits_scaling")
    return mixture(
        c, n_experts=["num_local_experts"], top_k_default=2, width=["intermediate_size"], **more
    )


def shared(c: Config) -> Tree:
    """One shared expert, where its width is not 0."""
    width = c.count("shared_intermediate_size", default=0)
    return {"shared": 1, "d_shared": width} if width else {}


def _every_layer(c: Config, ffn: Tree) -> Tree:
    attend = attention(c, bias=c.flag("attention_bias", default=False))
    block = {"norm": "rms", "attention": attend, "ffn": ffn}
    return decoder(c, {"moe": block}, n_layers(c), tied=False)
