"""XLM, FlauBERT and XLNet."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import dense, encoder, learned, lookup
from txcalc.sources.readers.layers import n_layers

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
        "attention": {
            "kind": "mha",
            "n_heads": c.size("n_heads", "num_attention_heads"),
            "bias": True,
        },
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
    "gelu_activation", "sinusoidal_embeddings", "embed_init_std", "mask_index", "start_n_top",
    "end_n_top", "lang_id", "lang2id", "id2lang", "max_vocab", "min_count", "same_enc_dec",
    "share_inout_emb", "use_lang_emb", "amp", "bos_index", "fp16", "group_by_size",
    "lg_sampling_factor", "encoder_only", "word_blank", "word_dropout", "word_keep", "word_mask",
    "word_mask_keep_rand", "word_pred", "word_rand", "word_shuffle", "sample_alpha", "langs",
    "mono_dataset", "context_size", "attention_setting", "optimizer", "sinusoidal",
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
    biases = {f"r_{name}_bias": {"use": "bias", "dims": ["d_model"]} for name in "wrs"}
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": {"kind": "mha", "n_heads": heads},
        "ffn": {"kind": "plain", "d_ff": c.size("d_inner"), "bias": True},
        "tensors": dense("r", "d_model", "d_model", bias=False)
        | biases
        | {"segments": {"use": "elementwise", "dims": [2, "d_model"]}},
        "partial": True,
    }
    return encoder(
        c, block, n_layers(c, "n_layer", "num_hidden_layers"), embedding_norm="none",
        head={"transform": None}, pooled="never", width=("d_model", "hidden_size"),
        vocab=("vocab_size", "n_token"), decodes=True,
        tensors={"mask_vector": {"use": "elementwise", "dims": ["d_model"]}},
    )  # fmt: skip


_XLNET_MEMORY = (
    "ff_activation", "attn_type", "mem_len", "reuse_len", "use_mems_eval", "use_mems_train",
    "bi_data", "clamp_len", "same_length", "start_n_top", "end_n_top", "untie_r",
)  # fmt: skip
