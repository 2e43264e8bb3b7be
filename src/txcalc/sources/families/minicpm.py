"""Dense models with latent attention."""

from __future__ import annotations

from txcalc.sources.readers.common import glu
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import latent
from txcalc.sources.readers.layers import uniform


def minicpm3(c: Config) -> Tree:
    """OpenBMB's MiniCPM3: values as wide as d_model / n_heads, unless the file says otherwise."""
    c.ignore("scale_emb", "scale_depth", "dim_model_base")
    d_model, heads = c.size("hidden_size"), c.size("num_attention_heads")
    if d_model % heads:
        c.refuse("hidden_size", f"{d_model} is no multiple of {heads} num_attention_heads")
    part = latent(c, q_default=768, v_default=d_model // heads)
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    return uniform(c, {"norm": "rms", "attention": part, "ffn": ffn}, tied=True)


def youtu(c: Config) -> Tree:
    """Tencent's Youtu: DeepSeek's attention in dense layers."""
    c.ignore("embedding_initializer_range")
    part = latent(c, q_default=1536)
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c)}, tied=True)
