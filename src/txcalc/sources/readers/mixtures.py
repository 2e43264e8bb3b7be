"""Mixtures of experts: the part, which layers have one, and what predicts further tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, decoder, grid, kinds, n_layers
from txcalc.sources.readers.parts import glu
from txcalc.sources.readers.trees import given, tensor

FFN = {"dense": "dense", "sparse": "moe"}
"""Block names of the entries of ``mlp_layer_types``."""

EXPERTS = ("num_experts", "num_local_experts")
LOCAL = ("num_local_experts", "num_experts")
ROUTED = ("n_routed_experts", "num_local_experts", "num_experts")
"""Names of the number of experts, the type's own first: by Qwen's, Mixtral's, DeepSeek's keys."""

_SIZES = (
    "intermediate_size", "moe_intermediate_size", "n_routed_experts", "num_experts",
    "num_local_experts", "num_experts_per_tok", "num_experts_per_token", "n_shared_experts",
    "num_shared_experts", "shared_expert_intermediate_size",
)  # fmt: skip
UNKNOWN_MODULES = "left out: the modules that predict further tokens"


def mixture(
    c: Config,
    *,
    n_experts: Sequence[str] = EXPERTS,
    top_k: Sequence[str] = ("num_experts_per_tok",),
    top_k_default: int | None = None,
    needs_top_k: bool = True,
    width: Sequence[str] = ("moe_intermediate_size",),
    shared: int = 0,
    d_shared: int | None = None,
    shared_bias: bool = False,
    **more: Any,
) -> Tree:
    """A mixture of gated experts by the names that a type has for its sizes.

    Shared experts are one network as wide as all of them, and so have one bias at its end.  A type
    that has no default may leave out the top_k; its blocks are partial then.
    """
    d_expert = c.size(*width)
    part: Tree = {"kind": "moe", "n_experts": c.size(*n_experts), "d_expert": d_expert}
    if needs_top_k or c.maybe(*top_k) is not None:
        part["top_k"] = c.size(*top_k, default=top_k_default)
    if shared and shared_bias:
        shared, d_shared = 1, shared * (d_shared or d_expert)
    if shared:
        part |= {"n_shared": shared} | given(d_shared=d_shared, shared_bias=shared_bias)
    return part | given(**more)


def routed(
    c: Config,
    *,
    n_experts: Sequence[str] = ROUTED,
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
    return mixture(c, n_experts=n_experts, shared=count, shared_bias=biased, **more)


def ffns(
    c: Config, of_layers: Sequence[str], dense: Callable[[], Tree], moe: Callable[[], Tree]
) -> dict[str, Tree]:
    """The FFNs that some layer has; sizes of the other kind mean nothing."""
    makers = {"dense": dense, "moe": moe}
    networks = {name: make() for name, make in makers.items() if name in of_layers}
    c.ignore(*_SIZES)
    return networks


def sparse(
    c: Config,
    mixers: Mapping[str, Tree],
    mixer_of: Sequence[str],
    ffn_of: Sequence[str],
    moe: Callable[[], Tree],
    *,
    dense: Callable[[], Tree] | None = None,
    tied: bool = False,
    norm: str = "rms",
    head_bias: bool = False,
    **fields: Any,
) -> Tree:
    """A decoder whose layers have a gated FFN or a mixture; ``fields`` are those of all blocks."""
    networks = ffns(c, ffn_of, dense or (lambda: glu(c)), moe)
    blocks = grid(mixers, mixer_of, networks, ffn_of, norm=norm, **fields)
    return decoder(c, *blocks, tied=tied, final_norm=norm, head_bias=head_bias)


def every_layer(
    c: Config,
    attend: Tree,
    moe: Tree,
    *,
    norm: str = "rms",
    tied: bool = False,
    head_bias: bool = False,
    **fields: Any,
) -> Tree:
    """A decoder whose layers are all alike, with a mixture each."""
    block = {"norm": norm, "attention": attend, "ffn": moe, **fields}
    count, blocks = n_layers(c), {"moe": block}
    return decoder(c, blocks, count, tied=tied, final_norm=norm, head_bias=head_bias)


def dense_before(count: int, first: int) -> list[str]:
    """The FFN of each layer where the first ones are dense."""
    return by_layer(count, lambda i: "dense" if i < first else "moe")


def listed_ffns(c: Config, count: int, first: int) -> list[str]:
    """The same, unless ``mlp_layer_types`` lists them."""
    return kinds(c, count, dense_before(count, first).__getitem__, key="mlp_layer_types", known=FFN)


def dense_or_sparse(c: Config, count: int, step: int, n_experts: int) -> list[str]:
    """The same by Qwen's keys: experts in each ``step``-th layer that mlp_only_layers leaves."""
    listed = c.sizes("mlp_only_layers") or ()
    dense = set(listed if n_experts else range(count))
    return by_layer(count, lambda i: "dense" if i in dense or (i + 1) % step else "moe")


def dense_first(c: Config, count: int, default: int, *, listed: bool = False) -> list[str]:
    """The same by the key first_k_dense_replace, and with mixtures in every so many layers."""
    first = c.count("first_k_dense_replace", default=default)
    every = c.size("moe_layer_freq", default=1) if not listed or c.has("moe_layer_freq") else 1

    def rule(i: int) -> str:
        return "moe" if i >= first and i % every == 0 else "dense"

    if listed:
        return kinds(c, count, rule, key="mlp_layer_types", known=FFN)
    if every != 1:
        c.unsupported("a moe_layer_freq other than 1 in this type")
    return by_layer(count, rule)


def modules(c: Config, blocks: Mapping[str, Tree], kind: Tree) -> Tree:
    """Multi-token prediction: layers of one ``kind`` with an embedding and a head each.

    arXiv:2412.19437 section 2.2; published checkpoints store embedding and head again.
    """
    unknown = unknown_modules(c)
    block = next((name for name, other in blocks.items() if other == kind), None)
    if not unknown or block is None:
        return unknown
    tensors = {
        "embedding": tensor("lookup", "vocab", "d_model"),
        "embedding_norm": tensor("norm", "d_model"),
        "hidden_norm": tensor("norm", "d_model"),
        "project": tensor("matmul", "d_model", "2*d_model"),
        "final_norm": tensor("norm", "d_model"),
        "head": tensor("matmul", "vocab", "d_model"),
    }
    return {"mtp": {"n_modules": _n_modules(c), "block": block, "tensors": tensors}}


def unknown_modules(c: Config) -> Tree:
    """A note where a type's modules for further tokens are not known tensor by tensor."""
    return {"notes": [UNKNOWN_MODULES]} if _n_modules(c) else {}


def _n_modules(c: Config) -> int:
    return c.count("num_nextn_predict_layers", "num_mtp_layers", default=0)
