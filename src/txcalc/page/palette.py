"""Colours and type of pages and plots: paper, ink, and one colour for each kind of component."""

from __future__ import annotations

from typing import Literal

import msgspec

Tone = Literal["attention", "ffn", "embedding", "head", "mark", "rest"]
"""What a colour means: attention blue, FFN ochre, embedding green, head plum, marks terracotta."""
TONES: tuple[Tone, ...] = ("mark", "attention", "embedding", "ffn", "head", "rest")
"""The order in which lines without a meaning of their own take colours."""
SERIF = ("Palatino Linotype", "Palatino", "TeX Gyre Pagella", "Book Antiqua", "serif")


class Palette(msgspec.Struct, frozen=True, kw_only=True):
    """Colours of one theme: ``fills`` of areas, ``inks`` of text, 4.5:1 against the paper."""

    paper: str
    ink: str
    muted: str
    grid: str
    fills: dict[Tone, str]
    inks: dict[Tone, str]


LIGHT = Palette(
    paper="#fcfbf8",
    ink="#1d1b18",
    muted="#625d54",
    grid="#e3dfd7",
    fills={
        "attention": "#3a5f8f", "ffn": "#bf8b2a", "embedding": "#68906b", "head": "#8a5c82",
        "mark": "#ac4521", "rest": "#9a958c",
    },
    inks={
        "attention": "#3a5f8f", "ffn": "#83600f", "embedding": "#426e49", "head": "#84567c",
        "mark": "#ac4521", "rest": "#625d54",
    },
)  # fmt: skip
DARK = Palette(
    paper="#171614",
    ink="#eeeae2",
    muted="#aaa499",
    grid="#35322d",
    fills={
        "attention": "#82a8dc", "ffn": "#dcb15f", "embedding": "#93bd93", "head": "#bd93b8",
        "mark": "#ea8a60", "rest": "#8d877d",
    },
    inks={
        "attention": "#82a8dc", "ffn": "#dcb15f", "embedding": "#93bd93", "head": "#bd93b8",
        "mark": "#ea8a60", "rest": "#aaa499",
    },
)  # fmt: skip
