"""Speech to text by encoder and decoder: Whisper, Speech2Text, Moonshine."""

from __future__ import annotations

from collections.abc import Callable

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.seq2seq import (
    SINUSOIDAL,
    Made,
    Side,
    described,
    side_layer,
    side_layers,
    sides,
    stack,
)
from txcalc.sources.readers.trees import dense, given, tensor

FRAMES = "source counts the encoder's frames, as its convolutions leave them"


def whisper(c: Config) -> Tree:
    """arXiv:2212.04356: keys without bias; the second convolution halves the frames.

    Sound is padded to 30 seconds (section 2.2), so that the encoder's length is fixed.
    """
    c.ignore("use_weighted_layer_sum", "classifier_proj_size")
    c.ignore("num_key_value_heads")

    def made(side: Side) -> Made:
        tokens = {"encoder": "max_source_positions", "decoder": "max_target_positions"}[side]
        positions = {"kind": "learned", "n_positions": c.size(tokens)}
        padded = c.size(tokens) if side == "encoder" else None
        block = side_layer(c, side, placement=None, bias=["q", "v", "o"])
        fields = {"positions": positions, "length": padded, "final_norm": "layer"}
        return {side: block}, stack(side_layers(c, side), side, **fields)

    stem = {
        **_conv("conv1", "d_model", c.size("num_mel_bins", default=80), taps=3, each=2),
        **_conv("conv2", "d_model", "d_model", taps=3),
    }
    return _described(c, made, stem)


def speech_to_text(c: Config) -> Tree:
    """arXiv:2010.05171: convolutions that halve the frames, each gating half of its channels."""
    c.only("conditional", "body")
    c.ignore("max_source_positions")
    taps = c.sizes("conv_kernel_sizes", length=c.size("num_conv_layers", default=2)) or [5, 5]
    middle = c.size("conv_channels", default=1024)
    channels = c.size("input_feat_per_channel", default=80) * c.size("input_channels", default=1)
    stem: Tree = {}
    for i, width in enumerate(taps):
        last = i == len(taps) - 1
        outputs = "2*d_model" if last else middle
        stem |= _conv(f"conv{i + 1}", outputs, channels, taps=width, each=2 ** (len(taps) - 1 - i))
        channels = middle // 2

    def made(side: Side) -> Made:
        fields = {"positions": SINUSOIDAL, "final_norm": "layer"}
        return {side: side_layer(c, side, placement=None)}, stack(
            side_layers(c, side), side, **fields
        )

    return _described(c, made, stem)


def moonshine(c: Config) -> Tree:
    """arXiv:2410.15608: rotary positions, a gated FFN in the decoder, three convolutions."""
    c.only("conditional", "body")
    c.ignore("pad_head_dim_to_multiple_of")
    d_model, bias = c.size("hidden_size"), c.flag("attention_bias", default=False)
    heads = c.size("decoder_num_attention_heads", "num_attention_heads")
    kv_heads = c.size("decoder_num_key_value_heads", "num_key_value_heads", default=heads)
    encoder = c.size("encoder_num_attention_heads")
    if (encoder, c.size("encoder_num_key_value_heads", default=encoder)) != (heads, kv_heads):
        c.unsupported("an encoder with other heads than the decoder")
    part = {
        "kind": "gqa",
        "n_heads": heads,
        "n_kv_heads": kv_heads,
        "head_dim": c.maybe("head_dim") or d_model // heads,
        **given(bias=["q", "k", "v"] if bias else None),
    }
    counts = {
        "encoder": n_layers(c, "encoder_num_hidden_layers"),
        "decoder": n_layers(c, "decoder_num_hidden_layers", "num_hidden_layers"),
    }

    def made(side: Side) -> Made:
        gate = "glu" if side == "decoder" else "plain"
        block = {
            "norm": "layer_no_bias",
            "attention": part,
            **given(cross_attention=part if side == "decoder" else None),
            "ffn": {"kind": gate, "d_ff": c.size("intermediate_size"), "bias": True},
        }
        fields = {"positions": {"kind": "rotary"}, "final_norm": "layer_no_bias"}
        return {side: block}, stack(counts[side], side, **fields)

    stem = {
        **_conv("conv1", "d_model", 1, taps=127, each=6, bias=False),
        **_conv("conv2", "2*d_model", "d_model", taps=7, each=2),
        **_conv("conv3", "d_model", "2*d_model", taps=3),
        "groupnorm": tensor("norm", "d_model", stream="source"),
        "groupnorm_bias": tensor("norm", "d_model", stream="source"),
    }
    return _described(c, made, stem, "max_position_embeddings")


def _described(
    c: Config, made: Callable[[Side], Made], stem: Tree, limit: str = "max_target_positions"
) -> Tree:
    """Only the decoder has a token table; the stem belongs to the encoder."""
    both = len(sides(c)) == 2
    tree = described(
        c,
        made,
        d_model=c.size("d_model", "hidden_size"),
        vocab=c.size("vocab_size"),
        tied=c.flag("tie_word_embeddings", default=True),
        context=c.size(limit),
        one_table=True,
        tensors=stem if both else {},
    )
    if "encoder" in tree:
        tree["encoder"]["reads"] = "sound"
    return tree | {"notes": [FRAMES]} if both else tree


def _conv(
    name: str, outputs: int | str, inputs: int | str, *, taps: int, each: int = 1, bias: bool = True
) -> Tree:
    """A convolution over frames, run ``each`` times for one that the encoder gets."""
    rows = {key: row | {"stream": "source"} for key, row in
            dense(name, outputs, inputs, bias=bias).items()}  # fmt: skip
    rows[name] |= {"copies": taps}
    rows[name] |= given(repeats=each if each > 1 else None)
    return rows
