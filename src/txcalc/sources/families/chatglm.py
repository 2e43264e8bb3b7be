"""Zhipu's ChatGLM in its own files: the first one, and the shape of ChatGLM2 to GLM-4-9B."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers
from txcalc.sources.readers.parts import glu, mha, plain


def chatglm(c: Config) -> Tree:
    """arXiv:2406.12793; a file with inner_hidden_size is of the first model (arXiv:2210.02414).

    The class ChatGLMModel holds the head, against what its name says.
    """
    if c.has("pre_seq_len"):
        c.unsupported("a learned prefix (pre_seq_len)")
    if c.task == "body" and c.head is None:
        c.task = "causal"
    return _first(c) if c.has("inner_hidden_size") else _grouped(c)


def _first(c: Config) -> Tree:
    """LayerNorm, biases everywhere, rotation in two dimensions, a tied head."""
    c.ignore("position_encoding_2d", "max_sequence_length")
    attend = mha(c.size("num_attention_heads"), bias=True)
    ffn = plain(c, width="inner_hidden_size", bias=True)
    block = {"norm": "layer", "attention": attend, "ffn": ffn}
    return decoder(
        c, {"decoder": block}, n_layers(c, "num_layers", "num_hidden_layers"), tied=True,
        final_norm="layer", positions={"kind": "rotary"}, limit=("max_sequence_length",),
    )  # fmt: skip


def _grouped(c: Config) -> Tree:
    """RMSNorm, few KV heads and a gated FFN, each by flag; half of each head is rotated."""
    biased = c.flag("add_bias_linear", default=False)
    bias = biased or (["q", "k", "v"] if c.flag("add_qkv_bias", default=False) else False)
    shared = c.flag("multi_query_attention", default=False)
    groups = c.size("multi_query_group_num", default=1)
    heads, width = c.size("num_attention_heads"), c.size("kv_channels", default=128)
    norm = "rms" if c.flag("rmsnorm", default=True) else "layer"
    rows = c.size("padded_vocab_size")
    c.assume(vocab_size=rows)
    c.ignore("original_rope", "rope_ratio", "interleaved_qkv", "rotary_percent")
    block = {
        "norm": norm,
        "attention": mha(heads, groups if shared else heads, head_dim=width, bias=bias),
        "ffn": glu(c, width="ffn_hidden_size", bias=biased),
    }
    tree = decoder(
        c, {"decoder": block}, n_layers(c, "num_layers", "num_hidden_layers"), tied=False,
        final_norm=norm if c.flag("post_layer_norm", default=True) else "none",
        positions={"kind": "rotary", "width": width // 2}, limit=("seq_length",),
    )  # fmt: skip
    return tree | {"vocab": rows}
