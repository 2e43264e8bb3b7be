"""BLOOM, Falcon and MPT: decoders without a position table."""

from __future__ import annotations

from txcalc.sources.readers.common import given
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers

_WIDTH = ("hidden_size", "n_embed")
_HEADS = ("num_attention_heads", "n_head")
_LAYERS = ("num_hidden_layers", "n_layer")


def bloom(c: Config) -> Tree:
    """arXiv:2211.05100: ALiBi, a norm of the embeddings, FFNs of 4 d_model."""
    c.only("causal", "body")
    c.ignore("apply_residual_connection_post_layernorm", "slow_but_exact", "seq_length")
    c.ignore("attention_softmax_in_fp32", "masked_softmax_fusion", "bias_dropout_fusion")
    c.ignore("offset_alibi", "unk_token_id", "skip_bias_add", "skip_bias_add_qkv", "n_inner")
    block = {
        "norm": "layer",
        "attention": {"kind": "mha", "n_heads": c.size(*_HEADS), "bias": True},
        "ffn": {"kind": "plain", "d_ff": 4 * c.size(*_WIDTH), "bias": True},
    }
    described = decoder(
        c, {"decoder": block}, n_layers(c, *_LAYERS), tied=True, final_norm="layer",
        positions={"kind": "alibi"}, width=_WIDTH, limit=("seq_length",),
    )  # fmt: skip
    described["layers"]["embedding_norm"] = "layer"
    return described


def falcon(c: Config) -> Tree:
    """arXiv:2311.16867: one KV head, or with the new architecture as many as the file says."""
    c.only("causal", "body")
    c.ignore("apply_residual_connection_post_layernorm")
    bias, width = c.flag("bias", default=False), c.size(*_WIDTH)
    block = {
        "norm": "layer",
        "placement": _falcon_norms(c),
        "attention": _falcon_attention(c, bias=bias),
        "ffn": {"kind": "plain", "d_ff": c.maybe("ffn_hidden_size") or 4 * width}
        | given(bias=bias),
    }
    positions = "alibi" if c.flag("alibi", default=False) else "rotary"
    return decoder(
        c, {"decoder": block}, n_layers(c, *_LAYERS), tied=True, final_norm="layer",
        positions={"kind": positions}, width=_WIDTH,
        limit=("max_position_embeddings", "max_seq_len"),
    )  # fmt: skip


def _falcon_attention(c: Config, *, bias: bool) -> Tree:
    heads = c.size(*_HEADS)
    stated = c.maybe("num_kv_heads", "n_head_kv") or heads
    new, shared = _new(c), c.flag("multi_query", default=True)
    kv_heads = stated if new else 1 if shared else heads
    part: Tree = {"kind": "mha", "n_heads": heads}
    if kv_heads != heads:
        part |= {"kind": "gqa", "n_kv_heads": kv_heads}
    return part | given(bias=bias)


def _falcon_norms(c: Config) -> str:
    """One norm for parallel sub-layers, or one each; and one each where they follow each other."""
    each = c.maybe("num_ln_in_parallel_attn") or (2 if _new(c) else 1)
    if not c.flag("parallel_attn", default=True):
        return "pre"
    return "parallel_two_norms" if each == 2 else "parallel"


def _new(c: Config) -> bool:
    return c.flag("new_decoder_architecture", default=False)


def mpt(c: Config) -> Tree:
    """MosaicML's MPT: ALiBi, LayerNorm without bias, no bias anywhere, FFNs of 4 d_model."""
    c.only("causal", "body")
    c.ignore("learned_pos_emb", "embedding_fraction", "logit_scale", "norm_type", "init_device")
    c.ignore("use_lm_head", "use_bias", "use_norm_bias", "verbose", "act_fn", "init_config")
    width = ("d_model", "hidden_size")
    for part in (c, c.inner("attn_config")):
        if part is not None:
            _as_the_class_has_it(part)
    if c.number("expansion_ratio", default=4) != 4 or not c.flag("no_bias", default=True):
        c.unsupported("an expansion_ratio other than 4, or biases, of type 'mpt'")
    block = {
        "norm": "layer_no_bias",
        "attention": {"kind": "mha", "n_heads": c.size("n_heads", "num_attention_heads")},
        "ffn": {"kind": "plain", "d_ff": 4 * c.size(*width)},
    }
    return decoder(
        c, {"decoder": block}, n_layers(c, "n_layers", "num_hidden_layers"), tied=True,
        final_norm="layer_no_bias", positions={"kind": "alibi"}, width=width,
        limit=("max_seq_len",),
    )  # fmt: skip


def _as_the_class_has_it(c: Config) -> None:
    """Refuses what MosaicML's own code builds, but the class does not."""
    c.ignore("attn_impl", "clip_qkv", "softmax_scale", "prefix_lm", "attn_uses_sequence_id")
    c.ignore("alibi_bias_max", "attn_pdrop", "architectures", "model_type")
    kind = c.word("attn_type", default="multihead_attention")
    if c.flag("qk_ln", default=False) or not c.flag("alibi", default=True):
        c.unsupported("qk_ln, or positions other than ALiBi, of type 'mpt'")
    if kind != "multihead_attention":
        c.unsupported(f"attn_type {kind!r} of type 'mpt'")
