"""Masked diffusion over text: decoders' layers that attend in both directions and keep no cache."""

from __future__ import annotations

from txcalc.sources.families.qwen import qwen2
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers
from txcalc.sources.readers.parts import glu, mha
from txcalc.sources.readers.refusals import refuse_flags

ROTARY = {"kind": "rotary"}


def dream(c: Config) -> Tree:
    """arXiv:2508.15487: Qwen 2 to the tensor; the class DreamModel holds the head."""
    if c.head is None:
        c.task = "causal"
    tree = qwen2(c)
    tree["layers"]["positions"] = ROTARY
    return _both_ways(tree)


def llada(c: Config) -> Tree:
    """arXiv:2502.09992: Llama's layers by OLMo's keys."""
    refuse_flags(c, "include_bias", "attention_layer_norm", "alibi", "scale_logits")
    c.word("block_type", default="llama", known=("llama",))
    c.word("layer_norm_type", default="rms", known=("rms",))
    if not c.flag("rope", default=True):
        c.unsupported("positions other than rotary of type 'llada'")
    c.ignore("mlp_ratio", "embedding_size", "multi_query_attention")
    c.assume(tie_word_embeddings=c.flag("weight_tying", default=False))
    heads = c.size("n_heads")
    bias = ["q", "k", "v"] if c.flag("include_qkv_bias", default=False) else []
    block = {
        "norm": "rms",
        "attention": mha(heads, c.size("n_kv_heads", default=heads), bias=bias),
        "ffn": glu(c, width="mlp_hidden_size"),
    }
    tree = decoder(
        c, {"encoder": block}, n_layers(c, "n_layers"), tied=False, positions=ROTARY,
        width=("d_model",), limit=("max_sequence_length",),
    )  # fmt: skip
    return _both_ways(tree | {"vocab": c.maybe("embedding_size") or tree["vocab"]})


def _both_ways(tree: Tree) -> Tree:
    """The same layers as an encoder's: every token attends to all."""
    return {"encoder" if name == "layers" else name: field for name, field in tree.items()}
