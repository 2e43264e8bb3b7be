"""Llama and what kept its shape."""

from __future__ import annotations

from txcalc.sources.config import Config
from txcalc.sources.families.common import Tree, attention, decoder, glu, n_layers


def llama(c: Config) -> Tree:
    """arXiv:2302.13971: RMSNorm, rotary positions, SwiGLU; biases by flag."""
    block = {
        "norm": "rms",
        "attention": attention(c, bias=c.flag("attention_bias", default=False)),
        "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
    }
    return decoder(c, {"decoder": block}, n_layers(c), tied=False)


def mistral(c: Config) -> Tree:
    """arXiv:2310.06825: a window in every layer where the file states one."""
    window = c.maybe("sliding_window")
    block = {
        "norm": "rms",
        "attention": attention(c, kv_default=8, window=window),
        "ffn": glu(c),
    }
    return decoder(c, {"decoder": block}, n_layers(c), tied=False)
