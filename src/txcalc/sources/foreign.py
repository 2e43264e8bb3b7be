"""Configs in other formats than Hugging Face's, which name no type: recognised by their keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("nanogpt", ("n_layer", "n_head", "n_embd", "block_size")),
    ("mamba-ssm", ("d_model", "n_layer", "ssm_cfg")),
    ("deepseek-inference", ("dim", "inter_dim", "n_layers", "n_heads")),
    ("mistral-params", ("dim", "hidden_dim", "n_layers", "n_heads")),
    ("meta-params", ("dim", "n_layers", "n_heads")),
)
"""The type that stands for a format, and keys that its files have; the first that fit count."""


def foreign(tree: Mapping[str, Any]) -> str | None:
    """The type of a config in another format; None where its keys are of none."""
    return next((type_ for type_, keys in _KEYS if all(key in tree for key in keys)), None)
