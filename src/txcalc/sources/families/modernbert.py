"""Encoders with today's layers: rotary positions, gated FFNs, windows."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.common import attention, given, glu, never, plain, text_model
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import (
    SECOND_BIAS,
    Pooled,
    dense,
    encoder,
    lookup,
    norm,
)
from txcalc.sources.readers.layers import kinds, n_layers

_ROTARY: Tree = {"positions": {"kind": "rotary"}}


def modernbert(c: Config) -> Tree:
    """arXiv:2412.13663: two of three layers see a window on both sides; layer 0 has no norm."""
    c.only("masked", "body")
    return _modernbert(c)


def modernvbert(c: Config) -> Tree:
    """arXiv:2510.01149: ModernBERT behind a vision tower."""
    c.ignore(*_TOWER)
    return text_model(c, modernbert, "the vision tower", tied=False)


def modernbert_decoder(c: Config) -> Tree:
    """arXiv:2507.11412: ModernBERT's layers, with windows to one side."""
    c.only("causal", "body")
    return _modernbert(c, sides=1)


def _modernbert(c: Config, *, sides: int = 2) -> Tree:
    c.ignore(*_TRAINED)
    kind = "layer" if c.flag("norm_bias", default=False) else "layer_no_bias"
    side = c.size("local_attention", default=128) // 2
    if c.maybe("sliding_window") not in (None, side):
        c.refuse("sliding_window", f"not the {side} that is half of local_attention")
    windows = {"full": None, "sliding": sides * side + (sides == 2) or 1}
    blocks: Tree = {}
    for name, window in windows.items():
        block = {
            "norm": kind,
            "attention": {"kind": "mha", "n_heads": c.size("num_attention_heads")}
            | given(bias=c.flag("attention_bias", default=False), window=window),
            "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
        }
        weights = norm("before_ffn") if kind == "layer" else {"before_ffn": norm("x")["x"]}
        blocks |= {name: block, f"first_{name}": block | {"norm": "none", "tensors": weights}}
    every = c.size("global_attn_every_n_layers", default=3)
    layers = kinds(c, n_layers(c), lambda i: "sliding" if i % every else "full")
    layers[0] = f"first_{layers[0]}"
    head = {
        "bias": c.flag("decoder_bias", default=True),
        "transform": kind,
        "transform_bias": c.flag("classifier_bias", default=False),
    }
    return encoder(
        c, blocks, layers, **_ROTARY, embedding_norm=kind, final_norm=kind, head=head,
        pooled="never", decodes=sides == 1,
    )  # fmt: skip


_TRAINED = (
    "classifier_activation", "classifier_pooling", "deterministic_flash_attn",
    "initializer_cutoff_factor", "sparse_prediction", "sparse_pred_ignore_index",
    "reference_compile", "repad_logits_with_grad", "global_rope_theta", "local_rope_theta",
    "layer_norm_eps", "position_embedding_type",
)  # fmt: skip
_TOWER = (
    "pixel_shuffle_factor", "classifier_bias", "classifier_pooling",
    "initializer_cutoff_factor",
)  # fmt: skip


def eurobert(c: Config) -> Tree:
    """arXiv:2503.05500: Llama's layers, read in both directions."""
    c.only("masked", "body")
    c.ignore("classifier_pooling")
    bias = c.flag("mlp_bias", default=False)
    head = {"tied": _tied(c), "transform": None, "bias": bias}
    return _llama(c, {"encoder": None}, n_layers(c), head=head)


def ultrabert(c: Config) -> Tree:
    """Two of three layers see a window on both sides; a head through a narrower layer."""
    c.only("masked", "body")
    c.ignore("classifier_pooling")
    count = n_layers(c)
    each = c.sizes("attention_windows", length=count) or []
    side = next((window for window in each if window), None) or c.size(
        "sliding_window", default=128
    )
    layers = kinds(c, count, lambda i: "sliding" if (each[i] if each else (i + 1) % 3) else "full")
    narrow = c.size("prediction_head_size", default=768)
    tensors = dense("narrow", narrow, "d_model", bias=False)
    tensors |= dense("wide", "d_model", narrow, bias=False)
    head = {"tied": _tied(c), "transform": None, "bias": False}
    return _llama(
        c, {"full": None, "sliding": 2 * side + 1}, layers, head=head,
        tensors={} if c.task == "body" else tensors,
    )  # fmt: skip


def ultravbert(c: Config) -> Tree:
    """UltraBERT behind a vision tower."""
    c.ignore(*_TOWER)
    return text_model(c, ultrabert, "the vision tower", tied=False)


def _llama(c: Config, windows: dict[str, int | None], layers: list[str] | int, **more: Any) -> Tree:
    blocks = {
        name: {
            "norm": "rms",
            "attention": attention(c, bias=c.flag("attention_bias", default=False), window=window),
            "ffn": glu(c, bias=c.flag("mlp_bias", default=False)),
        }
        for name, window in windows.items()
    }
    return encoder(
        c, blocks, layers, **_ROTARY, embedding_norm="none", final_norm="rms", pooled="never",
        **more,
    )  # fmt: skip


def gte(c: Config) -> Tree:
    """arXiv:2407.19669: norms after each sub-layer, biases but of the gate and the way up."""
    ffn = {"ffn": glu(c), "tensors": {"down_bias": {"use": "bias", "dims": ["d_model"]}}}
    return _rotary_bert(c, ffn, "never")


def nomic_bert(c: Config) -> Tree:
    """arXiv:2402.01613: norms after each sub-layer, no bias in them; GPT-2's names in old files."""
    c.only("masked", "body")
    c.ignore(*_NOMIC_TRAINED)
    never(c, "qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias", "prenorm", "causal")
    never(c, "parallel_block", "use_rms_norm")
    if c.count("num_experts", default=0) or c.count("moe_every_n_layers", default=0):
        c.unsupported("a mixture of experts of type 'nomic_bert'")
    if c.word("activation_function", default="swiglu") not in ("swiglu", "geglu", "glu"):
        c.unsupported("an FFN that is not gated, of type 'nomic_bert',")
    part = {"kind": "mha", "n_heads": c.size("num_attention_heads", "n_head")}
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": part | given(head_dim=c.maybe("head_dim")),
        "ffn": {"kind": "glu", "d_ff": c.size("intermediate_size", "n_inner")},
    }
    return encoder(
        c, block, n_layers(c, "num_hidden_layers", "n_layer"), **_ROTARY, untied=SECOND_BIAS,
        token_types=c.count("type_vocab_size", default=2), pooled="never",
        width=("hidden_size", "n_embd"), context=c.maybe("max_position_embeddings", "n_positions"),
    )  # fmt: skip


_NOMIC_TRAINED = (
    "rotary_emb_base", "rotary_emb_fraction", "rotary_emb_interleaved", "rotary_emb_scale_base",
    "rotary_scaling_factor", "use_flash_attn", "use_xentropy", "fused_bias_fc",
    "fused_dropout_add_ln", "pad_vocab_size_multiple", "max_trained_positions",
    "dense_seq_output", "last_layer_subset", "mlp_checkpoint_lvl",
)  # fmt: skip
"""Keys of the model's own code that change no tensor."""


def jina_v3(c: Config) -> Tree:
    """arXiv:2409.10173: XLM-RoBERTa with rotary positions."""
    return _rotary_bert(c, {"ffn": plain(c, bias=True)}, "body", SECOND_BIAS)


def _rotary_bert(c: Config, ffn: Tree, pooled: Pooled, untied: Tree | None = None) -> Tree:
    c.only("masked", "body")
    block = {"norm": "layer", "placement": "post", "attention": attention(c, bias=True), **ffn}
    return encoder(
        c, block, **_ROTARY, token_types=c.count("type_vocab_size", default=1),
        pooled=pooled, untied=untied,
    )  # fmt: skip


def neomme(c: Config) -> Tree:
    """NeoMME: patches beside tokens, values from a table of their own, norms without weights."""
    c.only("masked")
    c.ignore("sliding_window", "per_layer_config", "embedding_dim", "residual_multiplier")
    c.ignore("layer_types")
    width, rank = c.size("hidden_size"), c.size("embedding_rank")
    bias = c.flag("attention_bias", default=False)
    part = attention(c, kv_default=4, head_dim=64, bias=bias)
    heads, head_dim = part["n_heads"], part["head_dim"]
    block = {
        "norm": "none",
        "attention": part,
        "ffn": plain(c, bias=c.flag("mlp_bias", default=False)),
        "tensors": dense("gate", heads * head_dim, "d_model", bias=False)
        | {name: {"use": "elementwise", "dims": [n]} for name, n in (("alpha", heads), ("mix", 2))},
        "partial": True,
    }
    patch = 3 * c.size("patch_size", default=32) ** 2
    around = norm("patch_norm", patch) | dense("patch_up", 2 * width, patch, bias=False)
    around |= dense("patch_down", "d_model", 2 * width)
    around["values"] = lookup(c.size("vocab_size"), part.get("n_kv_heads", heads) * head_dim)
    return encoder(
        c, block, **_ROTARY, embedding_norm="none", tensors=around,
        head={"transform": None, "bias": False}, embedding={"d_embed": rank}, pooled="never",
        untied=dense("unembed", rank, "d_model", bias=False),
    )  # fmt: skip


def _tied(c: Config) -> bool:
    return c.flag("tie_word_embeddings", default=False)
