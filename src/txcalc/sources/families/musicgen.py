"""MusicGen's decoders, which lean on another model's text encoder."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.parts import mha, plain
from txcalc.sources.readers.seq2seq import IDLE, SINUSOIDAL, stack, without_encoder
from txcalc.sources.readers.trees import given


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
    d.ignore("audio_channels", "tie_word_embeddings")
    codebooks, vocab = d.size("num_codebooks", default=4), d.size("vocab_size")
    d_model = d.size("hidden_size")
    part = mha(d.size("num_attention_heads"))
    block = {
        "norm": "layer",
        "attention": part,
        **given(cross_attention=part if cross else None),
        "ffn": plain(d, width="ffn_dim"),
    }
    block = without_encoder(block, d_model) | given(partial=cross and whole is not None)
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
            n_layers(d),
            "decoder",
            vocab=codebooks * (vocab + 1),
            positions=SINUSOIDAL,
            final_norm="layer",
        ),
        **head,
        **given(scope="text" if whole is not None else None),
        "notes": notes,
    }
