"""Text models that stand behind an ear of their own."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, glu, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, n_layers

RANK = 32
"""Channels between the two matrices that scale the stream by the delay."""


def voxtral_realtime(c: Config) -> Tree:
    """Mistral's layers, each scaling its FFN's input by how far the text lags behind the sound.

    That scale is one a sequence: two matrices over an embedding of the delay.
    """
    block = {
        "norm": "rms",
        "attention": attention(c, kv_default=8, window=window(c, default=4096)),
        "ffn": glu(c),
        "tensors": {
            "delay_down": {"use": "matmul", "dims": [RANK, "d_model"], "stream": "sequence"},
            "delay_up": {"use": "matmul", "dims": ["d_model", RANK], "stream": "sequence"},
        },
    }
    return decoder(c, {"decoder": block}, n_layers(c), tied=False)
