"""Encoders of images or of sound that are a model by themselves."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.towers import described, ordered


def tower(c: Config) -> Tree:
    """The one tower that there is."""
    tree = described(c, c.type)
    return {"towers": {"audio" if tree["reads"] == "sound" else "vision": ordered(tree)}}
