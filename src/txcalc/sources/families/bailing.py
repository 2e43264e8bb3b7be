"""Ant's Ling and Ring, the first two releases: Bailing's mixtures of experts."""

from __future__ import annotations

from functools import partial

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import n_layers
from txcalc.sources.readers.mixtures import EXPERTS, dense_first, routed, sparse, unknown_modules
from txcalc.sources.readers.parts import attention, biased

_SHARED = ("num_shared_experts",)


def bailing_moe(c: Config) -> Tree:
    """arXiv:2503.05139, or the second release (inclusionAI/Ling-V2), which the class alone names.

    The second normalises queries and keys by head, and corrects its router by a buffer.
    """
    second = c.type == "bailing_moe_v2" or "V2" in c.class_
    normed = c.flag("use_qk_norm", default=second)
    corrected = c.flag("moe_router_enable_expert_bias", default=second)
    if not second and (normed or corrected):
        c.unsupported("use_qk_norm or moe_router_enable_expert_bias of the first release")
    c.ignore("norm_head", "norm_softmax", "score_function")
    bias = biased(c, ["q", "k", "v"], "use_qkv_bias", default=False)
    bias += biased(c, ["o"], "use_bias", default=False)
    attend = attention(c, bias=bias, qk_norm="head" if normed else "none")
    moe = partial(
        routed, c, n_experts=EXPERTS, shared=0, shared_names=_SHARED,
        router_bias="buffer" if corrected else False,
    )  # fmt: skip
    count = n_layers(c)
    ffn_of = dense_first(c, count, 0)
    mixers = {"full": {"attention": attend}}
    return sparse(c, mixers, ["full"] * count, ffn_of, moe) | unknown_modules(c)
