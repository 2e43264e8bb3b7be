"""Blocks, stacks and whole models, as hypothesis strategies."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from tests.support.describing.parts import (
    CROSS,
    Place,
    Tree,
    attentions,
    choice,
    few,
    ffns,
    norms,
    positions,
    softmax,
    some,
    ssms,
    tensors,
    width,
    yes,
)

PLACEMENTS = ("pre", "post", "output", "sandwich", "parallel", "parallel_two_norms")
LOOP_STATES = ("each", "last")
BLOCKS = ("decoder", "encoder", "dense", "moe", "local", "global", "block", "x-1", "Total", "heads")


@cache
@st.composite
def blocks(draw: st.DrawFn, place: Place, source_width: int | None) -> Tree:
    """At least one sub-layer; with cross-attention only beside an encoder."""
    tree: Tree = {"norm": draw(norms)}
    roles: dict[str, st.SearchStrategy[Tree]] = {
        "attention": attentions(place), "ffn": ffns, "ssm": ssms,
    }  # fmt: skip
    if source_width is not None:
        roles["cross_attention"] = st.one_of(*(softmax(kind, place, cross=True) for kind in CROSS))
    kept = draw(st.integers(1, 2 ** len(roles) - 1))
    tree |= {role: draw(kind) for i, (role, kind) in enumerate(roles.items()) if kept >> i & 1}
    tree = some(
        draw, tree, placement=st.sampled_from(PLACEMENTS), shared=yes,
        tensors=tensors(source=source_width is not None),
    )  # fmt: skip
    match draw(st.sampled_from(("plain", "plain", "loops", "hyper", "altup"))):
        case "loops":
            tree = some(draw, tree | {"loops": draw(few)}, loop_state=st.sampled_from(LOOP_STATES))
        case "hyper":
            tree["residual"] = some(draw, {"kind": "hyper", "n_streams": draw(few)}, mixed=yes)
        case "altup":
            tree["residual"] = {"kind": "altup", "n_copies": draw(few)}
    return tree


@st.composite
def stacks(draw: st.DrawFn, names: list[str]) -> Tree:
    """First, repeating and last blocks; every name stands somewhere."""
    several = st.lists(st.sampled_from(names), max_size=2)
    tree: Tree = {"pattern": [*draw(st.permutations(names)), *draw(several)]}
    tree = some(draw, tree, first=several, last=several)
    ends = len(tree.get("first", [])) + len(tree.get("last", []))
    tree["count"] = draw(st.integers(max(ends, 1), ends + 9))
    return some(
        draw, tree, positions=positions, token_types=few, embedding_norm=norms, final_norm=norms
    )


def _reached(stack: Tree) -> list[str]:
    """The blocks that some layer is of."""
    ends = [*stack.get("first", []), *stack.get("last", [])]
    return ends + stack["pattern"][: stack["count"] - len(ends)]


@st.composite
def descriptions(draw: st.DrawFn, *architectures: str) -> Tree:
    """Whole descriptions: of a ``decoder``, an ``encoder`` or ``both``."""
    architecture = draw(st.sampled_from(architectures or ("decoder", "encoder", "both")))
    tree: Tree = {"name": "generated", "source": "made up", "d_model": draw(_widths())}
    tree["vocab"] = draw(st.integers(1, 60))
    both = architecture == "both"
    encoder_width = draw(_widths()) if both and draw(choice) else tree["d_model"]
    one_width = encoder_width == tree["d_model"]
    turn = draw(st.integers(0, len(BLOCKS) - 1))
    names = iter(BLOCKS[turn:] + BLOCKS[:turn])
    tree |= {"blocks": {}, "parts": {}}
    for field, stack in (("encoder", "encoder"), ("layers", "decoder")):
        if architecture not in (stack, "both"):
            continue
        own = [next(names) for _ in range(draw(st.integers(1, 3)))]
        decoder = stack == "decoder"
        d_model = tree["d_model"] if decoder else encoder_width
        kind = blocks(
            Place(d_model, decoder, merged=decoder and both and one_width),
            encoder_width if decoder and both else None,
        )
        made = {name: draw(kind) for name in own}
        tree["parts"] |= _shared(draw, made, tree["parts"], "" if one_width else f"{stack}_")
        tree["blocks"] |= made
        tree[field] = draw(stacks(own))
        for name in set(own) - set(_reached(tree[field])):
            made[name].pop("shared", None)
    return _around(draw, tree, encoder_width)


def _widths() -> st.SearchStrategy[int]:
    return st.builds(int.__mul__, few, st.sampled_from((1, 6)))


def _around(draw: st.DrawFn, tree: Tree, encoder_width: int) -> Tree:
    """The tree with what stands around the layers; one of two widths has tables of its own."""
    two_stacks = "encoder" in tree and "layers" in tree
    two_widths = encoder_width != tree["d_model"]
    if two_widths:
        tree["encoder"]["d_model"] = encoder_width
    match "own" if two_widths else draw(st.sampled_from(("one", "embedding", "own"))):
        case "own":
            for field in (name for name in ("encoder", "layers") if name in tree):
                tree[field]["vocab"] = tree["vocab"] if field == "layers" else draw(width)
        case "embedding":
            tree["embedding"] = some(draw, {"d_embed": draw(width)}, bias=choice, all=choice)
    around = tensors(source=two_stacks)
    tree = some(draw, tree, head=_heads(tree), context=st.integers(1, 60), tensors=around)
    module = {"n_modules": few, "block": st.sampled_from(sorted(tree["blocks"]))}
    return some(draw, tree, mtp=st.fixed_dictionaries(module, optional={"tensors": tensors()}))


@st.composite
def _heads(draw: st.DrawFn, tree: Tree) -> Tree:
    """A tied head reads as many channels, and as many rows at most, as its table has."""
    own_table = tree.get("layers", tree.get("encoder")).get("vocab", tree["vocab"])
    tied = draw(choice) and own_table == tree["vocab"]
    outputs = st.integers(1, tree["vocab"])
    head = some(draw, {"tied": tied}, bias=choice, transform=norms, n_outputs=outputs)
    if "transform" in head:
        head = some(draw, head, transform_bias=choice)
    return head if tied else some(draw, head, d_head=width)


def _shared(draw: st.DrawFn, made: Tree, parts: Tree, prefix: str) -> Tree:
    """Parts that blocks share by name from now on, one that is there already or their own."""
    named: Tree = {}
    for block in made.values():
        for role in ("attention", "ssm", "ffn"):
            if role in block and draw(st.integers(0, 3)) == 0:
                name = prefix + role
                named.setdefault(name, parts.get(name, block[role]))
                block[role] = name
    return named
