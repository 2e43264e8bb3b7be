"""Moshi's text decoder, without its audio codec and depth decoder."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, untied, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform


def moshi(c: Config) -> Tree:
    """arXiv:2410.00037: one more token is read than is scored; ffn_dim is gate and up together."""
    c.only("causal")
    ffn, vocab = c.size("ffn_dim"), c.size("vocab_size")
    if ffn % 2:
        c.refuse("ffn_dim", f"{ffn} is odd, but it is gate and up together")
    c.ignore("audio_encoder_config", "depth_decoder_config", "audio_vocab_size", "num_codebooks")
    block = {
        "norm": "rms",
        "attention": attention(c, window=window(c, 3000)),
        "ffn": {"kind": "glu", "d_ff": ffn // 2},
    }
    tree = untied(uniform(c, block))
    tree |= {"vocab": vocab + 1, "head": tree["head"] | {"n_outputs": vocab}}
    left_out = "left out: what audio_encoder_config and depth_decoder_config describe"
    return tree | {"scope": "text", "notes": [left_out]}
