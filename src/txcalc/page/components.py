"""The components that parameters are in: what pages and plots show apart."""

from __future__ import annotations

from txcalc.model.rows import Role
from txcalc.page.palette import Tone

COMPONENTS: dict[Role, tuple[str, Tone]] = {
    "embedding": ("embedding", "embedding"),
    "attention": ("attention", "attention"),
    "cross_attention": ("attention", "attention"),
    "ssm": ("state space", "mark"),
    "ffn": ("FFN", "ffn"), "experts": ("FFN", "ffn"), "shared": ("FFN", "ffn"),
    "router": ("FFN", "ffn"),
    "norms": ("norms and other", "rest"), "residual": ("norms and other", "rest"),
    "tensors": ("norms and other", "rest"),
    "head": ("head", "head"),
}  # fmt: skip
"""The component that each role stands in, from left to right, and its colour."""
