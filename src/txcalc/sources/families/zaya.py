"""ZAYA1."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, mixture, window
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers

_KINDS = {"hybrid": "full", "hybrid_sliding": "sliding"}


def zaya(c: Config) -> Tree:
    """arXiv:2511.17127 section 3: convolutional attention, and a router of three layers.

    A token uses one expert, or none: the router's last class skips them.
    """
    count = n_layers(c)
    if c.size("num_experts_per_tok", default=1) != 1:
        c.refuse("num_experts_per_tok", "a token of this type uses one expert")
    of = kinds(c, count, lambda _: "full", known=_KINDS)
    mixers = {
        first + name: {"attention": _attention(c, keys), "tensors": _tensors(c, first=bool(first))}
        for name, keys in {"full": None, "sliding": window(c)}.items()
        for first in ("", "first_")
    }
    experts = mixture(c, n_experts=["num_experts"], top_k_default=1) | {"router": False}
    blocks = grid(
        mixers, [f"first_{of[0]}", *of[1:]], {"moe": experts}, ["moe"] * count, norm="rms"
    )
    scale = {"input_scale": {"use": "elementwise", "dims": ["d_model"], "copies": 2}}
    bias = c.flag("lm_head_bias", default=False)
    return decoder(c, *blocks, tied=True, head_bias=bias, tensors=scale)


def _attention(c: Config, keys: int | None) -> Tree:
    bias = c.flag("attention_bias", default=False)
    part = attention(c, kv_default=2, head_dim=128, bias=bias, window=keys)
    return part | {
        "kind": "cca",
        "n_kv_heads": part.get("n_kv_heads", part["n_heads"]),
        "d_conv": c.size("cca_time0", default=2),
        "d_head_conv": c.size("cca_time1", default=2),
    }


def _tensors(c: Config, *, first: bool) -> Tree:
    """The router, which adds what the layer before routed by, and the scales of the residuals."""
    width, classes = c.size("router_hidden_size"), c.size("num_experts") + 1
    tensors = {
        "router_down": {"use": "matmul", "dims": [width, "d_model"]},
        "router_hidden": {"use": "matmul", "dims": [width, width], "copies": 2},
        "router_out": {"use": "matmul", "dims": [classes, width]},
        "router_biases": {"use": "bias", "dims": [width], "copies": 3},
        "router_norm": {"use": "norm", "dims": [width]},
        "router_balance": {"use": "buffer", "dims": [classes]},
        "residual_scales": {"use": "elementwise", "dims": ["d_model"], "copies": 8},
    }
    scale = {"router_scale": {"use": "elementwise", "dims": [width]}}
    return tensors if first else tensors | scale
