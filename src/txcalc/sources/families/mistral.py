"""Mistral's models, dense and with experts."""

from __future__ import annotations

from txcalc.sources.families.composite import whole
from txcalc.sources.families.wrappers import Wrapper
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.mixtures import LOCAL, every_layer, mixture
from txcalc.sources.readers.modern import modern
from txcalc.sources.readers.parts import attention, window
from txcalc.sources.readers.trees import tensor

_RANK = 32
"""Channels between the two matrices that scale the stream by the delay."""


def mistral(c: Config) -> Tree:
    """arXiv:2310.06825: a window of 4096 in every layer, unless the file says another or null."""
    return modern(c, kv_default=8, bias=False, window=window(c, 4096))


def ministral(c: Config) -> Tree:
    """Mistral with layers that have no window, where the file lists them."""
    return modern(c, kv_default=8, bias=False, window=window(c, 4096), slides=lambda _: True)


def ministral3(c: Config) -> Tree:
    """Mistral with heads of 128, and no window by default; a file may hold the vision tower's."""
    if c.has("text_config"):
        return whole(c, Wrapper("text"))
    return modern(c, kv_default=8, head_dim=128, bias=False, window=window(c))


def voxtral_realtime(c: Config) -> Tree:
    """Mistral's layers, each scaling its FFN's input by how far the text lags behind the sound.

    That scale is one a sequence: two matrices over an embedding of the delay.
    """
    tensors = {
        "delay_down": tensor("matmul", _RANK, "d_model", stream="sequence"),
        "delay_up": tensor("matmul", "d_model", _RANK, stream="sequence"),
    }
    return modern(c, kv_default=8, bias=False, window=window(c, 4096), tensors=tensors)


def mixtral(c: Config) -> Tree:
    """arXiv:2401.04088: Mistral's attention, 2 of 8 experts."""
    attend = attention(c, kv_default=8, bias=False, window=window(c))
    return every_layer(
        c, attend, mixture(c, n_experts=LOCAL, top_k_default=2, width=["intermediate_size"])
    )
