"""Sub-layers of every kind, as hypothesis strategies."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from hypothesis import strategies as st

Tree = dict[str, Any]

NORMS = ("layer", "layer_no_bias", "rms", "none")
width = st.integers(1, 12)
few = st.integers(1, 4)
choice = st.booleans()
yes = st.just(True)
windows = st.integers(1, 16)
PROJECTIONS = ("q", "k", "v", "o", "gate")
REACHES = ("all", "window", "shares_kv", "chunk", "indexer")
BOUNDS = ("all", "window", "shared_top_k", "indexer", "indexer")
ENTRIES = (
    (), ("block",), ("block", "overlap"), ("block", "indexer"), ("block", "overlap", "indexer"),
)  # fmt: skip
USES = ("matmul", "conv", "lookup", "elementwise", "buffer", "bias", "norm")
blocks = st.sampled_from((1, 2, 3, 4, 6))
"""Tokens of a block; all of them divide 12."""
norms = st.sampled_from(NORMS)


class Place(NamedTuple):
    """Where a part is to stand: the width of its stream, and what only a decoder may have."""

    d_model: int
    decoder: bool = True
    merged: bool = False


def some(draw: st.DrawFn, tree: Tree, **optional: st.SearchStrategy[Any]) -> Tree:
    """The tree with some of the fields that may be left out."""
    kept = draw(st.integers(0, 2 ** len(optional) - 1))
    return tree | {
        name: draw(value) for i, (name, value) in enumerate(optional.items()) if kept >> i & 1
    }


def fixed(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    """A mapping of fields that are all there."""
    return st.fixed_dictionaries(fields)


# Attention.


@cache
@st.composite
def softmax(draw: st.DrawFn, kind: str, place: Place, *, cross: bool = False) -> Tree:
    """MHA and GQA; head_dim left out only where d_model is a multiple of the heads."""
    groups, each = draw(few), draw(st.integers(1, 3))
    tree: Tree = {"kind": kind, "n_heads": groups * each}
    if kind != "mha":
        tree["n_kv_heads"] = groups
    if place.d_model % (groups * each) or draw(choice):
        tree["head_dim"] = draw(width)
    tree = some(
        draw, tree, bias=st.one_of(choice, st.lists(st.sampled_from(PROJECTIONS), unique=True)),
        qk_norm=st.sampled_from(("none", "head", "width")), v_dim=width,
    )  # fmt: skip
    if "qk_norm" in tree:
        tree = some(draw, tree, qk_norm_kind=norms)
    if draw(choice):
        tree = some(
            draw, tree, gated=st.sampled_from((True, "head")), sinks=yes, k_is_v=yes,
            differential=yes, d_in=width,
        )  # fmt: skip
    if tree.get("gated") is True:
        tree.pop("v_dim", None)
    return tree if cross else _reach(draw, tree, place)


def _reach(draw: st.DrawFn, tree: Tree, place: Place) -> Tree:
    """Which keys are attended to, and whose they are."""
    reach = draw(st.sampled_from(REACHES if place.decoder else REACHES[:3]))
    if place.merged and reach != "shares_kv" and draw(choice):
        tree["merged"] = True
    match reach:
        case "window":
            tree["window"] = draw(windows)
            tree = some(draw, tree, kept=st.integers(max(1, tree["window"] - 1), tree["window"]))
        case "chunk":
            tree["chunk"] = draw(windows)
        case "indexer":
            index = fixed(index_heads=few, index_dim=few, index_block=few, index_top_k=few)
            tree["indexer"] = draw(index)
        case "shares_kv":
            tree["shares_kv"] = True
            tree.pop("k_is_v", None)
    return tree


@cache
@st.composite
def cca(draw: st.DrawFn, place: Place) -> Tree:
    """Values have two halves of one width."""
    tree: Tree = draw(softmax("gqa", place))
    tree["head_dim"] = 2 * draw(st.integers(1, 4))
    tree.pop("shares_kv", None)
    return tree | {"kind": "cca", "d_conv": draw(few), "d_head_conv": draw(few)}


@cache
@st.composite
def moa(draw: st.DrawFn, place: Place) -> Tree:
    """A mixture of attention."""
    experts = draw(few)
    top_k = draw(st.integers(1, experts))
    tree = {"kind": "moa", "n_experts": experts, "top_k": top_k, "n_kv_heads": draw(few)}
    return some(draw, tree | {"head_dim": draw(width)}, bias=choice)


@cache
@st.composite
def mla(draw: st.DrawFn, place: Place) -> Tree:
    """Latents; what a query attends to is bound once."""
    tree: Tree = {"kind": "mla", "n_heads": draw(few), "kv_rank": draw(width)}
    tree |= {"nope_dim": draw(width), "v_dim": draw(width)}
    bound = draw(st.sampled_from(BOUNDS if place.decoder else BOUNDS[:2]))
    if bound == "indexer" or draw(choice):
        tree["q_rank"] = draw(width)
    tree = some(draw, tree, rope_dim=width, bias=choice, o_bias=yes, sinks=yes)
    if "rope_dim" in tree:
        tree = some(draw, tree, rope_norm=yes)
    gates = ["none", "head", "channel"] + ["query"] * ("q_rank" in tree)
    tree["gate"] = draw(st.sampled_from(gates))
    match bound:
        case "window" | "shared_top_k":
            tree[bound] = draw(windows)
        case "indexer":
            index = draw(fixed(index_heads=few, index_dim=few, index_top_k=windows))
            tree[bound] = some(draw, index, pool=blocks, norm=norms)
    return tree


@cache
@st.composite
def compressed(draw: st.DrawFn, place: Place) -> Tree:
    """A window, and entries or none."""
    groups, each = draw(few), draw(few)
    tree: Tree = {"kind": "compressed", "n_heads": groups * each, "o_groups": groups}
    tree |= draw(fixed(head_dim=width, q_rank=width, o_rank=width, window=windows))
    index = fixed(index_heads=few, index_dim=few, index_top_k=few)
    further = {"block": blocks, "overlap": yes, "indexer": index}
    return tree | {name: draw(further[name]) for name in draw(st.sampled_from(ENTRIES))}


ATTENTIONS: dict[str, Callable[[Place], st.SearchStrategy[Tree]]] = {
    "mha": partial(softmax, "mha"),
    "gqa": partial(softmax, "gqa"),
    "cca": cca,
    "moa": moa,
    "mla": mla,
    "compressed": compressed,
}
CROSS = ("mha", "gqa")
ONE_WAY = ("compressed",)
"""Kinds that read from left to right only."""


# Recurrences.


def _with(kind: str, needed: Tree, **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    return st.fixed_dictionaries({"kind": st.just(kind), **needed}, optional=optional)


@st.composite
def mlstm(draw: st.DrawFn) -> Tree:
    """All heads are of one width."""
    heads = draw(few)
    tree = {"kind": "mlstm", "n_heads": heads, "d_qk": heads * draw(few), "d_v": heads * draw(few)}
    return some(draw, tree, bias=choice)


SSMS: dict[str, st.SearchStrategy[Tree]] = {
    "mamba": _with(
        "mamba", {"d_inner": width, "d_state": few, "d_conv": few, "dt_rank": few},
        conv_bias=choice, bias=choice, inner_norms=choice,
    ),
    "mamba2": _with(
        "mamba2",
        {"n_ssm_heads": few, "ssm_head_dim": few, "d_state": few, "n_groups": few, "d_conv": few},
        conv_bias=choice, gated_norm=choice,
        bias=st.one_of(choice, st.lists(st.sampled_from(("in", "out")), unique=True)),
    ),
    "gated_delta": _with(
        "gated_delta",
        {"n_k_heads": few, "n_v_heads": few, "k_dim": few, "v_dim": few, "d_conv": few},
    ),
    "kda": _with("kda", {"n_heads": few, "head_dim": few, "d_conv": few}, gate_rank=few),
    "lightning": _with("lightning", {"n_heads": few, "head_dim": few}),
    "mlstm": mlstm(),
    "rg_lru": _with(
        "rg_lru", {"d_inner": width, "n_gate_blocks": few, "gate_dim": few, "d_conv": few}
    ),
    "short_conv": _with("short_conv", {"d_conv": few}, bias=choice),
    "rwkv": _with("rwkv", {"d_inner": width}),
}  # fmt: skip


# Feed-forward networks.


@st.composite
def moe(draw: st.DrawFn) -> Tree:
    """Mixtures of plain or gated networks, with shared experts, empty ones and latents, or none."""
    experts = draw(st.integers(1, 6))
    tree = some(draw, {"kind": "moe", "n_experts": experts, "d_expert": draw(width)}, n_zero=few)
    tree["top_k"] = draw(st.integers(1, experts + tree.get("n_zero", 0)))
    tree = some(
        draw, tree, n_shared=few, expert=st.sampled_from(("plain", "glu")), bias=choice,
        router_bias=st.sampled_from((True, "buffer")), router=choice, d_latent=width,
    )  # fmt: skip
    if "n_zero" in tree:
        tree = some(draw, tree, zero_weights=yes)
    if "n_shared" in tree or "d_latent" in tree:
        tree = some(draw, tree, shared_bias=choice)
    if "n_shared" in tree:
        tree = some(draw, tree, d_shared=width, shared_gate=st.sampled_from((True, "each")))
    return tree


FFNS: dict[str, st.SearchStrategy[Tree]] = {
    "plain": _with("plain", {"d_ff": width}, bias=choice),
    "glu": _with("glu", {"d_ff": width}, bias=choice),
    "moe": moe(),
    "channel_mixing": _with("channel_mixing", {"d_ff": width}),
}
POSITIONS: dict[str, st.SearchStrategy[Tree]] = {
    **{kind: _with(kind, {}) for kind in ("sinusoidal", "alibi", "none")},
    "rotary": st.one_of(_with("rotary", {}), _with("rotary", {"width": few})),
    "learned": _with("learned", {"n_positions": st.integers(1, 50)}),
    "relative": _with("relative", {"n_buckets": few, "n_heads": few}),
}


@cache
@st.composite
def attentions(draw: st.DrawFn, place: Place) -> Tree:
    """Any kind that may stand there."""
    kinds = [kind for kind in ATTENTIONS if place.decoder or kind not in ONE_WAY]
    tree: Tree = draw(ATTENTIONS[draw(st.sampled_from(kinds))](place))
    return tree


ssms = st.sampled_from(sorted(SSMS)).flatmap(SSMS.__getitem__)
ffns = st.sampled_from(sorted(FFNS)).flatmap(FFNS.__getitem__)
positions = st.sampled_from(sorted(POSITIONS)).flatmap(POSITIONS.__getitem__)


# Tensors that no part knows.


@cache
@st.composite
def tensors(draw: st.DrawFn, *, source: bool = False) -> Tree:
    """Their sizes are numbers or letters of the model."""
    size = st.one_of(few, st.sampled_from(("d_model", "vocab")))
    streams = ("own", "sequence", "none", *(["source"] if source else []))
    named = {}
    for name in draw(
        st.lists(st.sampled_from(("conv", "scale", "table")), unique=True, max_size=2)
    ):
        use = draw(st.sampled_from(USES))
        count = draw(st.integers(1, 3)) if use in ("elementwise", "buffer", "bias", "norm") else 2
        tree: Tree = {"use": use, "dims": [draw(size) for _ in range(count)]}
        tree = some(draw, tree, copies=size)
        match use:
            case "conv":
                tree = some(draw, tree, fmt=st.just("fp32"), repeats=few)
            case "matmul":
                tree = some(draw, tree, stream=st.sampled_from(streams), repeats=few)
        if isinstance(copies := tree.get("copies"), int) and tree.get("stream", "own") == "own":
            tree = some(draw, tree, used=st.integers(1, copies))
        named[name] = tree
    return named
