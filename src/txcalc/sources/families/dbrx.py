"""DBRX."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers

_WIDTH = ("d_model", "hidden_size")


def dbrx(c: Config) -> Tree:
    """Databricks' DBRX (2024): fine-grained experts, LayerNorm without biases, a separate head."""
    if c.flag("tie_word_embeddings", default=False):
        c.refuse("tie_word_embeddings", "true, but the type's head is never tied")
    c.ignore("num_key_value_heads")
    return decoder(
        c,
        {"moe": {"norm": "layer_no_bias", "attention": _attention(c), "ffn": _experts(c)}},
        n_layers(c, "n_layers", "num_hidden_layers"),
        tied=False,
        final_norm="layer_no_bias",
        width=_WIDTH,
        limit=("max_seq_len", "max_position_embeddings"),
    )


def _attention(c: Config) -> Tree:
    heads = c.size("n_heads", "num_attention_heads")
    inner, kv_heads = c.inner("attn_config"), 1
    if inner:
        kv_heads = inner.size("kv_n_heads", default=1)
        inner.ignore("clip_qkv", "model_type")
    return {"kind": "gqa", "n_heads": heads, "n_kv_heads": kv_heads}


def _experts(c: Config) -> Tree:
    inner = c.needed("ffn_config")
    inner.ignore("hidden_size", "ffn_act_fn", "moe_normalize_expert_weights", "moe_loss_weight")
    inner.ignore("model_type", "moe_jitter_eps")
    return {
        "kind": "moe",
        "n_experts": inner.size("moe_num_experts"),
        "top_k": inner.size("moe_top_k", default=1),
        "d_expert": inner.size("ffn_hidden_size"),
    }
