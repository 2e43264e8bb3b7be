"""Liquid's LFM2 and LFM3: short convolutions in place of most attention."""

from __future__ import annotations

from functools import partial
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import ATTENTION, decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import dense_before, mixture, sparse
from txcalc.sources.readers.parts import attentions, biased, glu, window
from txcalc.sources.readers.trees import given

_KINDS = {**ATTENTION, "conv": "conv"}


def lfm2(c: Config) -> Tree:
    """arXiv:2511.23404 section 2: attention where the file says, everywhere if it does not."""
    count = n_layers(c)
    listed = None if c.has("layer_types") else c.sizes("full_attn_idxs")
    attends = set(range(count) if listed is None else listed)
    c.ignore("full_attn_idxs")
    of = kinds(c, count, lambda i: "full" if i in attends else "conv", known=_KINDS)
    ffn = {"kind": "glu", "d_ff": _width(c)}
    blocks = grid(_mixers(c), of, {"dense": ffn}, ["dense"] * count, norm="rms")
    return _tied(c, decoder(c, *blocks, tied=True))


def lfm2_moe(c: Config) -> Tree:
    """The same with experts after the first layers, balanced by a buffer where the file says."""
    count, first = n_layers(c), c.count("num_dense_layers", default=2)
    if not c.has("layer_types"):
        c.refuse("layer_types", "missing, but it is needed")
    of = kinds(c, count, lambda _: "full", known=_KINDS)
    bias = "buffer" if c.flag("use_expert_bias", default=True) else False
    moe = partial(mixture, c, n_experts=["num_experts"], top_k_default=4, router_bias=bias)
    return _tied(c, sparse(c, _mixers(c), of, dense_before(count, first), moe, tied=True))


def lfm3(c: Config) -> Tree:
    """Windows too, gated heads, and norms around both sub-layers."""
    count = n_layers(c)
    mixers = _mixers(
        c, keys=window(c, 256), head_dim=128, kv_default=4, bias=biased(c, "qkvo", default=False),
        gated="head" if c.flag("use_attention_gate", default=True) else False, taps=7,
    )  # fmt: skip

    def rule(i: int) -> str:
        return "full" if i % 4 == 2 else "sliding" if i % 4 == 0 and i > 0 else "conv"

    of = kinds(c, count, rule, known=_KINDS)
    placement = "sandwich" if c.flag("use_sandwich_norm", default=True) else "pre"
    ffn, ffn_of = {"dense": glu(c)}, ["dense"] * count
    blocks = grid(mixers, of, ffn, ffn_of, norm="rms", placement=placement)
    return decoder(c, *blocks, tied=True)


def _mixers(c: Config, *, keys: int | None = None, taps: int = 3, **attend: Any) -> dict[str, Tree]:
    mixers = attentions(c, keys, **{"kv_default": 8, "bias": False, "qk_norm": "head", **attend})
    bias = c.flag("conv_bias", default=False)
    conv = {"kind": "short_conv", "d_conv": c.size("conv_L_cache", default=taps)}
    return mixers | {"conv": {"ssm": conv | given(bias=bias)}}


def _width(c: Config) -> int:
    """The FFN's width, by default two thirds of what is stated, rounded up to a multiple."""
    width = c.size("block_ff_dim") if c.has("block_ff_dim") else c.size("intermediate_size")
    c.ignore("intermediate_size", "num_heads", "use_pos_enc", "conv_dim", "conv_dim_out")
    c.ignore_all("block_")
    adjusted = c.flag("block_auto_adjust_ff_dim", default=True)
    factor = c.number("block_ffn_dim_multiplier", default=1)
    multiple = c.size("block_multiple_of", default=256)
    if not adjusted:
        return width
    width = 2 * width // 3
    if c.null("block_ffn_dim_multiplier"):
        return width
    # The product is a float, rounded down, in the published code.
    width = int(float(factor) * width)
    return -(-width // multiple) * multiple


def _tied(c: Config, tree: Tree) -> Tree:
    """The same, tied as the older of two names says where it is there."""
    tied = c.flag("tie_embedding", default=c.flag("tie_word_embeddings", default=True))
    return tree | ({"head": {"tied": tied}} if "head" in tree else {})
