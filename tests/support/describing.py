"""Descriptions of small models of every kind, made up by hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Tree = dict[str, Any]

NORMS = ("layer", "layer_no_bias", "rms", "none")
PLACEMENTS = ("pre", "post", "sandwich", "parallel", "parallel_two_norms")
BLOCKS = ("decoder", "encoder", "dense", "moe", "local", "global", "block", "x-1", "Total", "heads")

width = st.integers(1, 24)
few = st.integers(1, 5)
choice = st.booleans()


def _where(draw: st.DrawFn, tree: Tree, **optional: st.SearchStrategy[Any]) -> Tree:
    """The tree with some of the fields that may be left out."""
    kept = draw(st.integers(0, 2 ** len(optional) - 1))
    return tree | {
        name: draw(value) for i, (name, value) in enumerate(optional.items()) if kept >> i & 1
    }


@st.composite
def attentions(draw: st.DrawFn, d_model: int, *, windows: st.SearchStrategy[int] | None) -> Tree:
    """MHA, GQA and MQA; head_dim left out only where d_model is a multiple of the heads."""
    groups, each = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    tree: Tree = {"kind": draw(st.sampled_from(("mha", "gqa"))), "n_heads": groups * each}
    if tree["kind"] == "gqa":
        tree["n_kv_heads"] = groups
    if d_model % (groups * each) or draw(choice):
        tree["head_dim"] = draw(st.integers(1, 12))
    tree = _where(
        draw,
        tree,
        bias=st.one_of(choice, st.lists(st.sampled_from("qkvo"), unique=True)),
        qk_norm=st.sampled_from(("none", "head", "width")),
        v_dim=st.integers(1, 12),
    )
    return tree if windows is None else _where(draw, tree, window=windows)


@st.composite
def ffns(draw: st.DrawFn) -> Tree:
    """Plain, gated, and mixtures of either with shared experts or none."""
    kind = draw(st.sampled_from(("plain", "glu", "moe")))
    if kind != "moe":
        return _where(draw, {"kind": kind, "d_ff": draw(width)}, bias=choice)
    experts = draw(st.integers(1, 9))
    tree = {
        "kind": kind,
        "n_experts": experts,
        "top_k": draw(st.integers(1, experts)),
        "d_expert": draw(width),
    }
    tree = _where(
        draw, tree, n_shared=few, expert=st.sampled_from(("plain", "glu")), bias=choice,
        router_bias=choice,
    )  # fmt: skip
    return _where(draw, tree, d_shared=width, shared_bias=choice) if "n_shared" in tree else tree


@st.composite
def tensors(draw: st.DrawFn) -> Tree:
    """Tensors that no part knows; their sizes are numbers or letters of the model."""
    size = st.one_of(width, st.sampled_from(("d_model", "vocab")))
    named = {}
    for name in draw(st.lists(st.sampled_from(("conv", "scale", "table")), unique=True)):
        use = draw(st.sampled_from(("matmul", "lookup", "elementwise")))
        count = 2 if use != "elementwise" else draw(st.integers(1, 3))
        named[name] = {"use": use, "dims": [draw(size) for _ in range(count)]}
    return named


@st.composite
def blocks(draw: st.DrawFn, d_model: int, *, encoder: bool, cross: bool) -> Tree:
    """At least one sub-layer; an encoder's windows are odd, so that both sides are alike."""
    windows = st.integers(0, 20).map(lambda side: 2 * side + 1) if encoder else st.integers(1, 40)
    tree: Tree = {"norm": draw(st.sampled_from(NORMS))}
    roles: dict[str, st.SearchStrategy[Tree]] = {
        "attention": attentions(d_model, windows=windows),
        "ffn": ffns(),
    }
    if cross:
        roles["cross_attention"] = attentions(d_model, windows=None)
    kept = draw(st.integers(1, 2 ** len(roles) - 1))
    tree |= {role: draw(kind) for i, (role, kind) in enumerate(roles.items()) if kept >> i & 1}
    return _where(draw, tree, placement=st.sampled_from(PLACEMENTS), tensors=tensors())


@st.composite
def stacks(draw: st.DrawFn, names: list[str]) -> Tree:
    """First, repeating and last blocks; every name stands somewhere."""
    some = st.lists(st.sampled_from(names), max_size=2)
    tree: Tree = {"pattern": draw(st.permutations(names))}
    tree["pattern"] = [*tree["pattern"], *draw(some)]
    tree = _where(draw, tree, first=some, last=some)
    ends = len(tree.get("first", [])) + len(tree.get("last", []))
    tree["count"] = draw(st.integers(max(ends, 1), ends + 9))
    positions = st.one_of(
        st.fixed_dictionaries({"kind": st.sampled_from(("sinusoidal", "rotary", "alibi"))}),
        st.fixed_dictionaries({"kind": st.just("learned"), "n_positions": st.integers(1, 50)}),
        st.fixed_dictionaries({"kind": st.just("relative"), "n_buckets": few, "n_heads": few}),
    )
    norm = st.sampled_from(NORMS)
    return _where(
        draw, tree, positions=positions, token_types=few, embedding_norm=norm, final_norm=norm
    )


@st.composite
def descriptions(draw: st.DrawFn, *architectures: str) -> Tree:
    """Whole descriptions: of a ``decoder``, an ``encoder`` or ``both``."""
    architecture = draw(st.sampled_from(architectures or ("decoder", "encoder", "both")))
    d_model = draw(st.integers(1, 4)) * draw(st.sampled_from((1, 6, 12)))
    tree: Tree = {"name": "generated", "source": "made up", "d_model": d_model}
    tree["vocab"] = draw(st.integers(1, 60))
    turn = draw(st.integers(0, len(BLOCKS) - 1))
    names = iter(BLOCKS[turn:] + BLOCKS[:turn])
    tree["blocks"] = {}
    for field, stack in (("encoder", "encoder"), ("layers", "decoder")):
        if architecture not in (stack, "both"):
            continue
        own = [next(names) for _ in range(draw(st.integers(1, 3)))]
        cross = (stack, architecture) == ("decoder", "both")
        kind = blocks(d_model, encoder=stack == "encoder", cross=cross)
        tree["blocks"] |= {name: draw(kind) for name in own}
        tree[field] = draw(stacks(own))
    head = st.fixed_dictionaries(
        {"tied": choice},
        optional={"bias": choice, "transform": st.sampled_from(NORMS)},
    )
    tree = _where(draw, tree, head=head, context=st.integers(1, 60))
    return _shared(draw, tree)


def _shared(draw: st.DrawFn, tree: Tree) -> Tree:
    """The tree with some of its parts shared by name between blocks."""
    parts = {}
    for block in tree["blocks"].values():
        for role in ("attention", "ffn"):
            if role in block and draw(st.integers(0, 3)) == 0:
                parts[role] = parts.get(role, block[role])
                block[role] = role
    if "encoder" in tree and parts.get("attention", {}).get("window", 1) % 2 == 0:
        parts["attention"]["window"] += 1
    return tree | ({"parts": parts} if parts else {})


def alone(tree: Tree, count: int) -> Tree:
    """The description with ``count`` layers of its first block and none of the others."""
    field = "layers" if "layers" in tree else "encoder"
    name, block = next(iter(tree["blocks"].items()))
    stack = {"count": count, "pattern": [name]}
    return used_parts(tree | {"blocks": {name: block}, field: stack})


def used_parts(tree: Tree) -> Tree:
    """The description without the shared parts that none of its blocks names."""
    named = [part for block in tree["blocks"].values() for part in block.values()]
    parts = {name: part for name, part in tree.get("parts", {}).items() if name in named}
    return {field: value for field, value in tree.items() if field != "parts"} | {"parts": parts}
