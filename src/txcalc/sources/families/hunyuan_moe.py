"""Hunyuan with experts."""

from __future__ import annotations

from txcalc.sources.config import Config
from txcalc.sources.families.common import Tree, attention, decoder, grid, n_layers

_EXPERTS = ("num_experts", "num_local_experts")
_TOP_K = ("moe_topk", "num_experts_per_tok")


def hunyuan_v1_moe(c: Config) -> Tree:
    """Hunyuan-A13B: a shared expert as wide as the routed ones, q and k normalised by head.

    The number of experts that a token uses may differ between layers.
    """
    count = n_layers(c)
    used = _used(c, count)
    width = c.size("intermediate_size")
    ffns = {
        f"top{k}": {
            "kind": "moe", "n_experts": c.size(*_EXPERTS), "top_k": k, "d_expert": width,
            "n_shared": 1,
        }
        for k in used
    }  # fmt: skip
    attend = attention(c, bias=c.flag("attention_bias", default=False), qk_norm="head")
    mixers = {"full": {"attention": attend}}
    ffn_of = [f"top{k}" for k in used]
    return decoder(c, *grid(mixers, ["full"] * count, ffns, ffn_of, norm="rms"), tied=False)


def _used(c: Config, count: int) -> list[int]:
    """The experts that a token uses in each layer, listed or one number for all."""
    name = next((name for name in _TOP_K if isinstance(c.raw(name), list)), None)
    listed = c.sizes(name, length=count) if name else None
    return listed or [c.size(*_TOP_K, default=1)] * count
