"""Hunyuan with experts."""

from __future__ import annotations

from txcalc.sources.readers.common import attention, never
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, grid, n_layers

_EXPERTS = ("num_experts", "num_local_experts")
_TOP_K = ("moe_topk", "num_experts_per_tok")


def hunyuan_v1_moe(c: Config) -> Tree:
    """Hunyuan-A13B: a shared expert as wide as the routed ones, q and k normalised by head.

    The number of experts that a token uses may differ between layers.
    """
    count = n_layers(c)
    used = _used(c, count)
    names = {k: f"top{k}" for k in used} if len(set(used)) > 1 else {used[0]: "moe"}
    ffns = {name: _experts(c, k) for k, name in names.items()}
    attend = attention(c, bias=c.flag("attention_bias", default=False), qk_norm="head")
    mixers, ffn_of = {"full": {"attention": attend}}, [names[k] for k in used]
    never(c, "use_cla", "mlp_bias")
    c.ignore("attention_head_dim", "use_qk_norm", "use_mixed_mlp_moe", "norm_type")
    c.ignore("cla_share_factor", "moe_layer_num_skipped")
    return decoder(c, *grid(mixers, ["full"] * count, ffns, ffn_of, norm="rms"), tied=False)


def _experts(c: Config, top_k: int) -> Tree:
    """One width for all experts; older files state it, and the number of shared ones, by layer."""
    width = c.size("intermediate_size")
    for key, usual in {"moe_intermediate_size": width, "num_shared_expert": 1}.items():
        stated = c.raw(key)
        if any(n not in (None, usual) for n in (stated if isinstance(stated, list) else [stated])):
            c.refuse(key, f"the experts of this type have {usual} here, all of them")
    sizes = {"n_experts": c.size(*_EXPERTS), "top_k": top_k, "d_expert": width}
    return {"kind": "moe", **sizes, "n_shared": 1}


def _used(c: Config, count: int) -> list[int]:
    """The experts that a token uses in each layer, listed or one number for all."""
    name = next((name for name in _TOP_K if isinstance(c.raw(name), list)), None)
    listed = c.sizes(name, length=count) if name else None
    return listed or [c.size(*_TOP_K, default=1)] * count
