"""What the families of latent attention share: the attention, its mixture and its modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from txcalc.sources.readers.common import given, mixture
from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import FFN, kinds

EXPERTS = ("n_routed_experts", "num_local_experts", "num_experts")
_SIZES = (
    "intermediate_size", "moe_intermediate_size", "n_routed_experts", "num_experts",
    "num_local_experts", "num_experts_per_tok", "num_experts_per_token", "n_shared_experts",
    "num_shared_experts", "shared_expert_intermediate_size",
)  # fmt: skip
UNKNOWN_MODULES = "left out: the modules that predict further tokens"


def latent(
    c: Config,
    *,
    q_default: int | None = None,
    v_default: int | None = None,
    rope: Sequence[str] = ("qk_rope_head_dim",),
    **more: Any,
) -> Tree:
    """Latent attention by today's usual keys.

    ``q_default`` is a type's rank of the query, ``v_default`` its width of a value head, ``rope``
    its names of the rotary channels.
    """
    stated = None if c.null("q_lora_rank") else q_default
    nope, rotary = c.size("qk_nope_head_dim"), c.count(*rope)
    told = c.maybe("qk_head_dim")
    if told is not None and told != nope + rotary:
        c.refuse("qk_head_dim", f"{told}, but its parts are {nope} and {rotary}")
    c.ignore("head_dim", "num_key_value_heads", "q_head_dim", "rope_interleave")
    return {
        "kind": "mla",
        "n_heads": c.size("num_attention_heads"),
        **given(q_rank=c.maybe("q_lora_rank") or stated),
        "kv_rank": c.size("kv_lora_rank"),
        "nope_dim": nope,
        **given(rope_dim=rotary or None),
        "v_dim": c.size("v_head_dim", default=v_default),
        **given(bias=c.flag("attention_bias", default=False), **more),
    }


def indexer(c: Config, *, heads: int) -> Tree:
    """The indexer of sparse attention, arXiv:2512.02556; ``heads`` is the type's default."""
    return {
        "index_heads": c.size("index_n_heads", default=heads),
        "index_dim": c.size("index_head_dim", default=128),
        "index_top_k": c.size("index_topk", default=2048),
    }


def experts(
    c: Config,
    *,
    names: Sequence[str] = EXPERTS,
    shared: int = 1,
    shared_names: Sequence[str] = ("n_shared_experts", "num_shared_experts"),
    biased: bool = False,
    **more: Any,
) -> Tree:
    """A mixture by DeepSeek's keys; the shared experts are one network, with or without biases.

    ``shared`` is the type's default; a null stands for none.
    """
    null = any(c.null(name) for name in shared_names)
    count = c.count(*shared_names, default=0 if null else shared)
    if biased and not count:
        c.unsupported("a shared expert of width 0 with a bias")
    return mixture(c, n_experts=names, shared=count, shared_bias=biased, **more)


def ffns(
    c: Config, of_layers: Sequence[str], dense: Callable[[], Tree], moe: Callable[[], Tree]
) -> dict[str, Tree]:
    """The FFNs that some layer has; sizes of the other kind mean nothing."""
    found = {name: make() for name, make in (("dense", dense), ("moe", moe)) if name in of_layers}
    c.ignore(*_SIZES)
    return found


def dense_first(c: Config, count: int, default: int, *, listed: bool = False) -> list[str]:
    """The FFN of each layer: the first ones dense, or as ``mlp_layer_types`` lists them."""
    first = c.count("first_k_dense_replace", default=default)
    every = c.size("moe_layer_freq", default=1) if not listed or c.has("moe_layer_freq") else 1

    def rule(i: int) -> str:
        return "moe" if i >= first and i % every == 0 else "dense"

    if listed:
        return kinds(c, count, rule, key="mlp_layer_types", known=FFN)
    if every != 1:
        c.unsupported("a moe_layer_freq other than 1 in this type")
    return [rule(i) for i in range(count)]


def modules(c: Config, blocks: Mapping[str, Tree], kind: Tree) -> Tree:
    """Multi-token prediction: layers of one ``kind`` with an embedding and a head each.

    arXiv:2412.19437 section 2.2; published checkpoints store embedding and head again.
    """
    count = c.count("num_nextn_predict_layers", "num_mtp_layers", default=0)
    if not count:
        return {}
    block = next((name for name, found in blocks.items() if found == kind), None)
    if block is None:
        return {"notes": [UNKNOWN_MODULES]}
    norm = {"use": "norm", "dims": ["d_model"]}
    table = ["vocab", "d_model"]
    tensors = {
        "embedding": {"use": "lookup", "dims": table},
        "embedding_norm": norm,
        "hidden_norm": norm,
        "project": {"use": "matmul", "dims": ["d_model", 2 * c.size("hidden_size")]},
        "final_norm": norm,
        "head": {"use": "matmul", "dims": table},
    }
    return {"mtp": {"n_modules": count, "block": block, "tensors": tensors}}


def unknown_modules(c: Config) -> Tree:
    """A note where a type's modules for further tokens are not known tensor by tensor."""
    count = c.count("num_nextn_predict_layers", "num_mtp_layers", default=0)
    return {"notes": [UNKNOWN_MODULES]} if count else {}
