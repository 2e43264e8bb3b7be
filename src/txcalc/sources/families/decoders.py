"""Decoders that lean on another model's encoder: TrOCR's, and those of MusicGen."""

from __future__ import annotations

from txcalc.sources.readers.common import given
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.seq2seq import IDLE, stack, without_encoder


def trocr(c: Config) -> Tree:
    """arXiv:2109.10282: BART's decoder behind an image encoder, whose states may be wider."""
    c.only("causal")
    learned = c.flag("use_learned_position_embeddings", default=True)
    norm = "layer" if c.flag("layernorm_embedding", default=True) else "none"
    c.ignore("decoder_layerdrop")
    d_model, context = c.size("d_model", "hidden_size"), c.size("max_position_embeddings")
    part = {
        "kind": "mha",
        "n_heads": c.size("decoder_attention_heads", "num_attention_heads"),
        "bias": True,
    }
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": part,
        "cross_attention": part,
        "ffn": {"kind": "plain", "d_ff": c.size("decoder_ffn_dim"), "bias": True},
    }
    positions: Tree = {"kind": "sinusoidal"}
    if learned:
        positions = {"kind": "learned", "n_positions": context + 2}
    block = without_encoder(block, d_model, c.maybe("cross_attention_hidden_size"))
    count = n_layers(c, "decoder_layers", "num_hidden_layers")
    return {
        "d_model": d_model,
        "vocab": c.size("vocab_size"),
        "context": context,
        "blocks": {"decoder": block},
        "layers": stack(count, "decoder", positions=positions, embedding_norm=norm),
        "head": {"tied": c.flag("tie_word_embeddings", default=True)},
        "notes": [IDLE],
    }


def musicgen(c: Config) -> Tree:
    """arXiv:2306.05284: each step reads a token of every codebook and writes as many."""
    return _musicgen(c, cross=True)


def musicgen_melody(c: Config) -> Tree:
    """The same with text and melody as a prefix instead of cross-attention."""
    return _musicgen(c, cross=False)


def _musicgen(c: Config, *, cross: bool) -> Tree:
    """The decoder; table and head hold the codebooks side by side.

    The whole model has a text encoder beside it, which the decoder's cross-attention reads; how
    many of its states there are is not the decoder's to say.
    """
    whole = c.inner("decoder")
    d = whole or c
    c.ignore("text_encoder", "audio_encoder", "num_chroma", "chroma_length", "sampling_rate")
    d.ignore("layerdrop", "audio_channels", "tie_word_embeddings")
    codebooks, vocab = d.size("num_codebooks", default=4), d.size("vocab_size")
    d_model = d.size("hidden_size")
    part = {"kind": "mha", "n_heads": d.size("num_attention_heads")}
    block = {
        "norm": "layer",
        "attention": part,
        **given(cross_attention=part if cross else None),
        "ffn": {"kind": "plain", "d_ff": d.size("ffn_dim")},
    }
    block = without_encoder(block, d_model) | given(partial=cross and whole is not None)
    count = n_layers(d, "num_hidden_layers")
    head = {} if c.task == "body" else {"head": {"tied": False}}
    notes = [f"table and head hold {codebooks} codebooks of {vocab:,} tokens"]
    if whole is not None:
        notes.append("left out: the text encoder and the audio codec")
    elif cross:
        notes.append(IDLE)
    return {
        "d_model": d_model,
        "vocab": codebooks * vocab,
        "context": d.size("max_position_embeddings"),
        "blocks": {"decoder": block},
        "layers": stack(
            count,
            "decoder",
            vocab=codebooks * (vocab + 1),
            positions={"kind": "sinusoidal"},
            final_norm="layer",
        ),
        **head,
        **given(scope="text" if whole is not None else None),
        "notes": notes,
    }
