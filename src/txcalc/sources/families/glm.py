"""Zhipu's GLM-4, dense."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, derived_heads, glu
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform


def glm(c: Config) -> Tree:
    """arXiv:2406.12793: biases on q, k and v; 2 KV heads of 128 unless the file says otherwise."""
    return uniform(c, _block(c))


def glm4(c: Config) -> Tree:
    """The same with norms on both sides of each sub-layer."""
    return uniform(c, _block(c) | {"placement": "sandwich"})


def glm4v(c: Config) -> Tree:
    """arXiv:2507.01006: GLM-4's layers behind a vision tower, with heads as wide as they divide."""
    derived_heads(c)
    part = attention(c, kv_default=2, bias=["q", "k", "v"])
    return uniform(c, _block(c) | {"placement": "sandwich", "attention": part})


def glm_ocr(c: Config) -> Tree:
    """The same without biases, with 8 KV heads unless the file says otherwise."""
    part = attention(c, kv_default=8)
    return uniform(c, _block(c) | {"placement": "sandwich", "attention": part})


def _block(c: Config) -> Tree:
    bias = ["q", "k", "v"] if c.flag("attention_bias", default=True) else False
    return {
        "norm": "rms",
        "attention": attention(c, kv_default=2, head_dim=128, bias=bias),
        "ffn": glu(c),
    }
