"""Tencent's Hunyuan and Hy."""

from __future__ import annotations

from functools import partial
from typing import Any

from txcalc.sources.families.deepseek import hyper, hyper_head
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.latent import INDEXERS, indexer, latent
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers, uniform
from txcalc.sources.readers.mixtures import EXPERTS, listed_ffns, routed, sparse, unknown_modules
from txcalc.sources.readers.parts import attention, glu
from txcalc.sources.readers.refusals import refuse_flags

_TOP_K = ("moe_topk", "num_experts_per_tok")


def hunyuan_v1_dense(c: Config) -> Tree:
    """Dense: q and k normed by head, whose width the file has to state."""
    refuse_flags(c, "mlp_bias", "use_cla")
    if not c.flag("use_qk_norm", default=True):
        c.unsupported("use_qk_norm false of type 'hunyuan_v1_dense'")
    width = c.size("head_dim", "attention_head_dim")
    part = attention(c, qk_norm="head") | {"head_dim": width}
    return uniform(c, {"norm": "rms", "attention": part, "ffn": glu(c)})


def hunyuan_v1_moe(c: Config) -> Tree:
    """Hunyuan-A13B: a shared expert as wide as the routed ones, q and k normalised by head.

    The number of experts that a token uses may differ between layers.
    """
    count = n_layers(c)
    used = _used(c, count)
    names = {k: f"top{k}" for k in used} if len(set(used)) > 1 else {used[0]: "moe"}
    ffns = {name: _experts(c, k) for k, name in names.items()}
    attend = attention(c, qk_norm="head")
    mixers, ffn_of = {"full": {"attention": attend}}, [names[k] for k in used]
    refuse_flags(c, "use_cla", "mlp_bias")
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
    sizes = {"n_experts": c.size(*EXPERTS), "top_k": top_k, "d_expert": width}
    return {"kind": "moe", **sizes, "n_shared": 1}


def _used(c: Config, count: int) -> list[int]:
    """The experts that a token uses in each layer, listed or one number for all."""
    name = next((name for name in _TOP_K if isinstance(c.raw(name), list)), None)
    listed = c.sizes(name, length=count) if name else None
    return listed or [c.size(*_TOP_K, default=1)] * count


def hy_v3(c: Config) -> Tree:
    """Hy3: full attention with normalised queries and keys, one dense layer, a shared expert."""
    count, bias = n_layers(c), c.flag("mlp_bias", default=False)
    if not c.count("num_shared_experts", default=1):
        c.unsupported("a mixture without a shared expert in this type")
    moe = partial(
        routed, c, n_experts=EXPERTS, shared_names=("num_shared_experts",), biased=bias,
        router_bias="buffer",
    )  # fmt: skip
    mixers = {"full": {"attention": attention(c, kv_default=8, head_dim=128, qk_norm="head")}}
    ffn_of, dense = listed_ffns(c, count, 1), partial(glu, c, bias=bias)
    return sparse(c, mixers, ["full"] * count, ffn_of, moe, dense=dense) | unknown_modules(c)


def hy_v4(c: Config) -> Tree:
    """Hy4-preview: latent attention with shared indexers and a gate, unmixed hyper-connections."""
    return _hy_v4(c, q_rank=1536, heads=16)


def hy_v4_vl(c: Config) -> Tree:
    """Hy4's text model, the larger one."""
    return _hy_v4(c, q_rank=2048, heads=32)


def _hy_v4(c: Config, *, q_rank: int, heads: int) -> Tree:
    count, index = n_layers(c), indexer(c, heads=heads)
    shape: dict[str, Any] = {"q_default": q_rank, "gate": "channel", "sinks": True}
    mixers = {
        "full": {"attention": latent(c, indexer=index, **shape)},
        "shared": {"attention": latent(c, shared_top_k=index["index_top_k"], **shape)},
    }
    mixer_of = kinds(
        c, count, lambda i: "shared" if i and (i - 1) % 4 else "full", key="indexer_types",
        known=INDEXERS,
    )  # fmt: skip
    c.ignore("layer_types")
    tree = sparse(
        c, mixers, mixer_of, listed_ffns(c, count, 1), partial(routed, c, router_bias="buffer"),
        residual=hyper(c) | {"mixed": False},
    )  # fmt: skip
    return tree | hyper_head(c) | unknown_modules(c)
