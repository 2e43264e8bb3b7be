"""Which block each layer is, and a decoder around the blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.trees import given

MAX_LAYERS = 100_000
ATTENTION = {"full_attention": "full", "sliding_attention": "sliding"}
"""Block names of the entries of ``layer_types``."""


def n_layers(c: Config, *names: str) -> int:
    """The number of layers, small enough to list them."""
    count = c.size(*(names or ("num_hidden_layers",)))
    if count > MAX_LAYERS:
        c.refuse(names[0] if names else "num_hidden_layers", f"{count} is above {MAX_LAYERS:,}")
    return count


def by_layer(count: int, rule: Callable[[int], str]) -> list[str]:
    """The block of each layer by its index from 0."""
    return [rule(i) for i in range(count)]


def kinds(
    c: Config,
    count: int,
    rule: Callable[[int], str],
    *,
    key: str = "layer_types",
    known: Mapping[str, str] = ATTENTION,
) -> list[str]:
    """The kind of each layer: ``known`` ones by a list under ``key``, else by a rule."""
    listed = c.words(key, length=count)
    if listed is None:
        return by_layer(count, rule)
    return [known.get(k) or c.refuse(key, f"{k!r} is not modelled") for k in listed]


def layer_type(c: Config, kind: str) -> str:
    """The block of an entry of ``layer_types``."""
    return ATTENTION.get(kind) or c.refuse("layer_types", f"{kind!r} is not modelled")


def pattern(layers: Sequence[str]) -> Tree:
    """The shortest ``first`` and repeating ``pattern`` that spell a list of layers.

    Of the last n layers, the longest border (beginning and end alike) leaves their shortest period
    over; the borders of all n are computed in one pass (Knuth, Morris and Pratt 1977).
    """
    count, border = len(layers), 0
    borders = [0, 0]
    for end in range(1, count):
        while border and layers[-1 - border] != layers[-1 - end]:
            border = borders[border]
        border += layers[-1 - border] == layers[-1 - end]
        borders.append(border)
    last = max(range(1, count + 1), key=borders.__getitem__)
    first, length = count - last, count - borders[last]
    return {
        "count": count,
        **given(first=list(layers[:first])),
        "pattern": list(layers[first:length]),
    }


def grid(
    mixers: Mapping[str, Tree],
    mixer_of: Sequence[str],
    ffns: Mapping[str, Tree],
    ffn_of: Sequence[str],
    **fields: Any,
) -> tuple[dict[str, Tree], list[str]]:
    """Blocks of the mixers and FFNs that some layer combines, and the block of each layer.

    A mixer is the fields of a block beside its FFN: attention or ssm.  A block is named after what
    varies: ``moe``, ``sliding``, or ``sliding_moe``.
    """
    mixer_of, ffn_of = _alike(mixers, mixer_of), _alike(ffns, ffn_of)
    fixed, alike = len(set(mixer_of)) == 1, len(set(ffn_of)) == 1
    layers = [
        f if fixed else m if alike else f"{m}_{f}" for m, f in zip(mixer_of, ffn_of, strict=True)
    ]
    blocks = {
        name: {**fields, **mixers[m], "ffn": ffns[f]}
        for name, m, f in zip(layers, mixer_of, ffn_of, strict=True)
    }
    return blocks, layers


def _alike(kinds: Mapping[str, Tree], of_layers: Sequence[str]) -> list[str]:
    """The same list with one name for kinds that are equal."""
    first = {name: next(n for n, kind in kinds.items() if kind == kinds[name]) for name in kinds}
    return [first[name] for name in of_layers]


def decoder(
    c: Config,
    blocks: Mapping[str, Tree],
    layers: Sequence[str] | int,
    *,
    tied: bool,
    final_norm: str = "rms",
    embedding_norm: str = "none",
    positions: Tree | None = None,
    head_bias: bool = False,
    width: Sequence[str] = ("hidden_size",),
    limit: Sequence[str] = ("max_position_embeddings",),
    **more: Any,
) -> Tree:
    """A decoder-only description: its blocks, which layer is which, and the head.

    ``layers`` names the block of every layer, or counts the layers of the only block.  ``tied`` is
    the type's default where the file does not say; ``width`` and ``limit`` are the type's names of
    d_model and of the context.
    """
    tied = c.flag("tie_word_embeddings", default=tied)
    stack: Tree = {"count": layers, "pattern": list(blocks)}
    if not isinstance(layers, int):
        blocks = {name: block for name, block in blocks.items() if name in layers}
        stack = pattern(layers)
        if c.maybe("num_hidden_layers") == stack["count"]:
            stack["count"] = c.size("num_hidden_layers")
    blocks = {name: block | _partial(block) for name, block in blocks.items()}
    stack |= given(positions=positions, embedding_norm=embedding_norm, final_norm=final_norm)
    head = {} if c.task == "body" else {"head": {"tied": tied} | given(bias=head_bias)}
    return {
        "d_model": c.size(*width),
        "vocab": c.size("vocab_size"),
        **given(context=c.maybe(*limit) or c.by_class(*limit)),
        "blocks": dict(blocks),
        "layers": stack,
        **head,
        **more,
    }


def _partial(block: Tree) -> Tree:
    """Nobody can say what a mixture costs whose top_k is unknown."""
    ffn = block.get("ffn") or {}
    return given(partial=ffn.get("kind") == "moe" and "top_k" not in ffn)


def uniform(c: Config, block: Tree, *, tied: bool = False, **more: Any) -> Tree:
    """A decoder whose layers are all alike."""
    return decoder(c, {"decoder": block}, n_layers(c), tied=tied, **more)


def windowed(
    c: Config,
    block: Callable[[int | None], Tree],
    slides: Callable[[int], bool],
    *,
    window: int | None,
    tied: bool = False,
    **more: Any,
) -> Tree:
    """A decoder whose layers differ in their window alone.

    Layers have it as ``layer_types`` says, else by a rule of their index; without a window they are
    all alike.
    """
    count = n_layers(c)
    known = ATTENTION | {"attention": "full"}
    layers = kinds(c, count, lambda i: "sliding" if slides(i) else "full", known=known)
    if window is None:
        layers = ["full"] * count
    blocks = {name: block(w) for name, w in (("full", None), ("sliding", window)) if name in layers}
    return decoder(c, blocks, layers, tied=tied, **more)
