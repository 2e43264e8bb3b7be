"""Descriptions of small models of every kind, made up by hypothesis.

``parts`` draws the kinds of sub-layers, ``trees`` blocks, stacks and whole models of them, and
``changes`` makes other descriptions of one.
"""

from tests.support.describing.changes import (
    alone,
    beside_encoder,
    changed,
    each_token,
    layer,
    unbounded,
    used_parts,
)
from tests.support.describing.trees import descriptions

__all__ = [
    "alone",
    "beside_encoder",
    "changed",
    "descriptions",
    "each_token",
    "layer",
    "unbounded",
    "used_parts",
]
