"""Dense models with latent attention."""

from __future__ import annotations

from txcalc.sources.config import Config
from txcalc.sources.families.common import Tree, given, glu, uniform


def minicpm3(c: Config) -> Tree:
    """OpenBMB's MiniCPM3: values as wide as d_model / n_heads, unless the file says otherwise."""
    c.ignore("scale_emb", "scale_depth", "dim_model_base")
    d_model, heads = c.size("hidden_size"), c.size("num_attention_heads")
    if d_model % heads:
        c.refuse("hidden_size", f"{d_model} is no multiple of {heads} num_attention_heads")
    sizes = {"q_rank": 768, "kv_rank": 256, "nope_dim": 64, "rope_dim": 32}
    part = _latent(c, **sizes, v_dim=d_model // heads)
    ffn = glu(c, bias=c.flag("mlp_bias", default=False))
    return uniform(c, {"norm": "rms", "attention": part, "ffn": ffn}, tied=True)


def youtu(c: Config) -> Tree:
    """Tencent's Youtu: DeepSeek's sizes where the file does not say."""
    c.ignore("rope_interleave", "embedding_initializer_range")
    sizes = {"q_rank": 1536, "kv_rank": 512, "nope_dim": 128, "rope_dim": 64, "v_dim": 128}
    return uniform(c, {"norm": "rms", "attention": _latent(c, **sizes), "ffn": glu(c)}, tied=True)


def _latent(
    c: Config, *, q_rank: int, kv_rank: int, nope_dim: int, rope_dim: int, v_dim: int
) -> Tree:
    """Latent attention with a type's default sizes; a null q_lora_rank leaves its latent out."""
    c.ignore("num_key_value_heads", "head_dim", "qk_head_dim")
    stated = c.maybe("q_lora_rank")
    return {
        "kind": "mla",
        "n_heads": c.size("num_attention_heads"),
        **given(q_rank=stated or (None if c.null("q_lora_rank") else q_rank)),
        "kv_rank": c.size("kv_lora_rank", default=kv_rank),
        "nope_dim": c.size("qk_nope_head_dim", default=nope_dim),
        "rope_dim": c.size("qk_rope_head_dim", default=rope_dim),
        "v_dim": c.size("v_head_dim", default=v_dim),
        **given(bias=c.flag("attention_bias", default=False)),
    }
