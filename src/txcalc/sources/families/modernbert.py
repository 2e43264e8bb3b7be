"""Encoders with today's layers: rotary positions, gated FFNs, windows."""

from __future__ import annotations

from typing import Any

from txcalc.sources.families.composite import text_model
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import SECOND_BIAS, Pooled, encoder, token_types
from txcalc.sources.readers.layers import kinds, n_layers
from txcalc.sources.readers.parts import attention, glu, mha, plain
from txcalc.sources.readers.refusals import refuse_flags
from txcalc.sources.readers.trees import dense, layer_norm, lookup, tensor

_ROTARY: Tree = {"positions": {"kind": "rotary"}}


def modernbert(c: Config) -> Tree:
    """arXiv:2412.13663: two of three layers have a window on both sides; layer 0 no norm."""
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
    c.ignore("position_embedding_type", *_CLASSIFIER)
    kind = "layer" if c.flag("norm_bias", default=False) else "layer_no_bias"
    side = c.size("local_attention", default=128) // 2
    if c.maybe("sliding_window") not in (None, side):
        c.refuse("sliding_window", f"not the {side} that is half of local_attention")
    windows = {"full": None, "sliding": sides * side + (sides == 2) or 1}
    blocks: Tree = {}
    for name, window in windows.items():
        block = {
            "norm": kind,
            "attention": mha(
                c.size("num_attention_heads"), window=window,
                bias=c.flag("attention_bias", default=False),
            ),
            "ffn": glu(c, bias="mlp_bias"),
        }  # fmt: skip
        biased = layer_norm("before_ffn")
        weights = biased if kind == "layer" else {"before_ffn": biased["before_ffn"]}
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


_CLASSIFIER = ("classifier_activation", "classifier_pooling")
"""Keys of heads that classify sequences."""

_TOWER = ("pixel_shuffle_factor", "classifier_bias", "classifier_pooling")


def eurobert(c: Config) -> Tree:
    """arXiv:2503.05500: Llama's layers, read in both directions."""
    c.only("masked", "body")
    c.ignore("classifier_pooling")
    head = _head(c) | {"bias": c.flag("mlp_bias", default=False)}
    return _llama(c, {"encoder": None}, n_layers(c), head=head)


def ultrabert(c: Config) -> Tree:
    """Two of three layers have a window on both sides; a head through a narrower layer."""
    c.only("masked", "body")
    c.ignore("classifier_pooling")
    count = n_layers(c)
    each = c.sizes("attention_windows", length=count) or []
    side = next(filter(None, each), None) or c.size("sliding_window", default=128)
    layers = kinds(c, count, lambda i: "sliding" if (each[i] if each else (i + 1) % 3) else "full")
    narrow = c.size("prediction_head_size", default=768)
    tensors = dense("narrow", narrow, "d_model", bias=False)
    tensors |= dense("wide", "d_model", narrow, bias=False)
    head = _head(c) | {"bias": False}
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
            "attention": attention(c, window=window),
            "ffn": glu(c, bias="mlp_bias"),
        }
        for name, window in windows.items()
    }
    return encoder(
        c, blocks, layers, **_ROTARY, embedding_norm="none", final_norm="rms", pooled="never",
        **more,
    )  # fmt: skip


def gte(c: Config) -> Tree:
    """arXiv:2407.19669: norms after each sub-layer, biases but of the gate and the way up.

    Its own files have the type ``new``.
    """
    c.word("layer_norm_type", default="layer_norm", known=("layer_norm",))
    c.word("position_embedding_type", default="rope", known=("rope",))
    c.ignore("pack_qkv", "unpad_inputs", "use_memory_efficient_attention", "logn_attention_scale")
    c.ignore("logn_attention_clip1")
    ffn = {"ffn": glu(c), "tensors": {"down_bias": tensor("bias", "d_model")}}
    return _rotary_bert(c, ffn, "never")


def nomic_bert(c: Config) -> Tree:
    """arXiv:2402.01613: norms after each sub-layer, no bias in them; GPT-2's names in old files."""
    c.only("masked", "body")
    c.ignore("pad_vocab_size_multiple", "dense_seq_output", "last_layer_subset")
    refuse_flags(c, "qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias", "prenorm", "causal")
    refuse_flags(c, "parallel_block", "use_rms_norm")
    if c.count("num_experts", default=0) or c.count("moe_every_n_layers", default=0):
        c.unsupported("a mixture of experts of type 'nomic_bert'")
    if c.word("activation_function", default="swiglu") not in ("swiglu", "geglu", "glu"):
        c.unsupported("an FFN that is not gated, of type 'nomic_bert',")
    heads = c.size("num_attention_heads", "n_head")
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": mha(heads, head_dim=c.maybe("head_dim")),
        "ffn": {"kind": "glu", "d_ff": c.size("intermediate_size", "n_inner")},
    }
    return encoder(
        c, block, n_layers(c, "num_hidden_layers", "n_layer"), **_ROTARY, untied=SECOND_BIAS,
        token_types=token_types(c), pooled="never",
        width=("hidden_size", "n_embd"), context=c.maybe("max_position_embeddings", "n_positions"),
    )  # fmt: skip


def jina_v3(c: Config) -> Tree:
    """arXiv:2409.10173: XLM-RoBERTa with rotary positions."""
    return _rotary_bert(c, {"ffn": plain(c, bias=True)}, "body", SECOND_BIAS)


def _rotary_bert(c: Config, ffn: Tree, pooled: Pooled, untied: Tree | None = None) -> Tree:
    c.only("masked", "body")
    block = {"norm": "layer", "placement": "post", "attention": attention(c, bias=True), **ffn}
    types = token_types(c, 1)
    return encoder(c, block, **_ROTARY, token_types=types, pooled=pooled, untied=untied)


def neomme(c: Config) -> Tree:
    """NeoMME: patches beside tokens, values from a table of their own, norms without weights."""
    c.only("masked")
    c.ignore("sliding_window", "per_layer_config", "embedding_dim", "layer_types")
    width, rank = c.size("hidden_size"), c.size("embedding_rank")
    part = attention(c, kv_default=4, head_dim=64)
    heads = part["n_heads"]
    head_dim = part.get("head_dim", width // heads)
    block = {
        "norm": "none",
        "attention": part,
        "ffn": plain(c, bias="mlp_bias"),
        "tensors": dense("gate", heads * head_dim, "d_model", bias=False)
        | {name: tensor("elementwise", n) for name, n in (("alpha", heads), ("mix", 2))},
        "partial": True,
    }
    patch = 3 * c.size("patch_size", default=32) ** 2
    around = layer_norm("patch_norm", patch) | dense("patch_up", "2*d_model", patch, bias=False)
    around |= dense("patch_down", "d_model", "2*d_model")
    around["values"] = lookup(c.size("vocab_size"), part.get("n_kv_heads", heads) * head_dim)
    return encoder(
        c, block, **_ROTARY, embedding_norm="none", tensors=around,
        head={"transform": None, "bias": False}, embedding={"d_embed": rank}, pooled="never",
        untied=dense("unembed", rank, "d_model", bias=False),
    )  # fmt: skip


def _head(c: Config) -> Tree:
    return {"tied": c.flag("tie_word_embeddings", default=False), "transform": None}
