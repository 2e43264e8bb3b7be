"""Microsoft's Phi, dense."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.common import attention, derived_heads, glu, never, plain, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform


def phi(c: Config) -> Tree:
    """arXiv:2306.11644: attention and FFN side by side behind one LayerNorm, biases everywhere."""
    c.ignore("attention_bias", "rotary_dim")
    normed: Tree = {}
    if c.flag("qk_layernorm", default=False):
        derived_heads(c)
        normed = {"qk_norm": "head", "qk_norm_kind": "layer"}
    block = {
        "norm": "layer",
        "placement": "parallel",
        "attention": attention(c, bias=True, **normed),
        "ffn": plain(c, bias=True),
    }
    return uniform(c, block, final_norm="layer", head_bias=True)


def phi3(c: Config) -> Tree:
    """arXiv:2404.14219: Llama's shapes without biases; a window in every layer if stated."""
    never(c, "attention_bias", "mlp_bias", "lm_head_bias")
    c.ignore("original_max_position_embeddings")
    return uniform(c, _block(c))


def phi4_multimodal(c: Config) -> Tree:
    """arXiv:2503.01743: Phi-3's shapes; the towers for images and sound are left out."""
    c.ignore("original_max_position_embeddings", "vision_config", "audio_config")
    left_out = ["left out: the vision and audio towers and their projections"]
    return uniform(c, _block(c, kv_default=8), scope="text", notes=left_out)


def _block(c: Config, **more: Any) -> Tree:
    return {"norm": "rms", "attention": attention(c, window=window(c), **more), "ffn": glu(c)}
