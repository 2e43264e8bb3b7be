"""XLM, FlauBERT, XLNet and Funnel."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import REPLACED, encoder, replaced_or_head
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.parts import learned, mha, plain
from txcalc.sources.readers.trees import dense, lookup, tensor

_WIDTH = ("emb_dim", "hidden_size")


def xlm(c: Config) -> Tree:
    """arXiv:1901.07291 and arXiv:1912.05372: a table of languages, FFNs of 4 d_model."""
    c.only("masked", "body")
    c.ignore(*_XLM_TRAINED)
    if c.flag("asm", default=False):
        c.unsupported("an adaptive softmax (asm)")
    if not c.flag("is_encoder", default=True):
        c.unsupported("the decoder (is_encoder false)")
    block = {
        "norm": "layer",
        "placement": "pre" if c.flag("pre_norm", default=False) else "post",
        "attention": mha(c.size("n_heads", "num_attention_heads"), bias=True),
        "ffn": {"kind": "plain", "d_ff": 4 * c.size(*_WIDTH), "bias": True},
    }
    languages = c.size("n_langs", default=1)
    named = languages > 1 and c.flag("use_lang_emb", default=True)
    return encoder(
        c, block, n_layers(c, "n_layers", "num_hidden_layers"), positions=learned(c),
        head={"transform": None}, pooled="never", width=_WIDTH, vocab=("vocab_size", "n_words"),
        tensors={"languages": lookup(languages)} if named else {},
        decodes=c.flag("causal", default=False),
    )  # fmt: skip


_XLM_TRAINED = (
    "sinusoidal_embeddings", "start_n_top", "end_n_top", "lang_id", "lang2id", "id2lang",
    "max_vocab", "min_count", "same_enc_dec", "share_inout_emb", "use_lang_emb", "langs",
    "encoder_only", "context_size", "attention_setting", "sinusoidal",
)  # fmt: skip
"""Keys that say how XLM and FlauBERT were trained, and change no tensor."""


def xlnet(c: Config) -> Tree:
    """arXiv:1906.08237: attention by content, by relative position and by segment."""
    c.only("causal", "body")
    c.ignore(*_XLNET_MEMORY)
    width = c.size("d_model", "hidden_size")
    heads = c.size("n_head", "num_attention_heads")
    if width % heads or c.size("d_head", default=width // heads) * heads != width:
        c.refuse("d_head", f"times {heads} heads is not d_model {width}")
    block = _relative(c, mha(heads), "d_model")
    return encoder(
        c, block, n_layers(c, "n_layer", "num_hidden_layers"), embedding_norm="none",
        head={"transform": None}, pooled="never", width=("d_model", "hidden_size"),
        vocab=("vocab_size", "n_token"), decodes=True,
        tensors={"mask_vector": tensor("elementwise", "d_model")},
    )  # fmt: skip


_XLNET_MEMORY = (
    "attn_type", "mem_len", "reuse_len", "use_mems_eval", "use_mems_train",
    "bi_data", "clamp_len", "same_length", "start_n_top", "end_n_top", "untie_r",
)  # fmt: skip


def funnel(c: Config) -> Tree:
    """arXiv:2006.03236: blocks of layers over ever fewer tokens, and a decoder over all again."""
    c.only("masked", "body")
    c.ignore("block_repeats", "pooling_type", "attention_type", "separate_cls", "truncate_seq")
    c.ignore("pool_q_only", "num_hidden_layers")
    heads, width = c.size("n_head", "num_attention_heads"), c.size("d_head", default=64)
    sizes = c.sizes("block_sizes")
    if sizes is None:
        c.refuse("block_sizes", "missing, but it is needed")
    attend = mha(heads, head_dim=width, bias=["k", "v", "o"])
    block = _relative(c, attend, heads * width)
    return replaced_or_head(encoder(
        c, block, sum(sizes) + c.count("num_decoder_layers", default=2),
        head={"transform": None}, pooled="never", pretraining=REPLACED,
        width=("d_model", "hidden_size"),
    ))  # fmt: skip


def _relative(c: Config, attend: Tree, width: int | str) -> Tree:
    """A layer that scores by content, by relative position and by segment, which no part does."""
    biases = {f"r_{name}_bias": tensor("bias", width) for name in "wrs"}
    segments = {"segments": tensor("elementwise", 2, width)}
    return {
        "norm": "layer",
        "placement": "post",
        "attention": attend,
        "ffn": plain(c, width="d_inner", bias=True),
        "tensors": dense("r", width, "d_model", bias=False) | biases | segments,
        "partial": True,
    }
