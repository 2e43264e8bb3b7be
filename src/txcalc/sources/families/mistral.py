"""Mistral's dense models."""

from __future__ import annotations

from typing import Any

from txcalc.sources.families.composite import whole
from txcalc.sources.families.wrappers import Wrapper
from txcalc.sources.readers.common import attention, glu, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import uniform, windowed


def mistral(c: Config) -> Tree:
    """arXiv:2310.06825: a window of 4096 in every layer, unless the file says another or null."""
    return uniform(c, _block(c, window(c, 4096)))


def ministral(c: Config) -> Tree:
    """The same with layers that have no window, where the file lists them."""
    return windowed(c, lambda w: _block(c, w), lambda _: True, window=window(c, 4096))


def ministral3(c: Config) -> Tree:
    """The same with heads of 128, and no window by default; a file may hold the vision tower's."""
    if c.has("text_config"):
        return whole(c, Wrapper("text"))
    return uniform(c, _block(c, window(c), head_dim=128))


def _block(c: Config, window: int | None, **more: Any) -> Tree:
    return {
        "norm": "rms",
        "attention": attention(c, kv_default=8, window=window, **more),
        "ffn": glu(c),
    }
