"""What families share: attention by its usual keys, a decoder around blocks, layer patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from txcalc.sources.config import Config

Tree = dict[str, Any]

MAX_LAYERS = 100_000
ATTENTION = {"full_attention": "full", "sliding_attention": "sliding"}
FFN = {"dense": "dense", "sparse": "moe"}
"""Block names of the entries of ``layer_types`` and ``mlp_layer_types``."""


def n_layers(c: Config, *names: str) -> int:
    """The number of layers, small enough to list them."""
    count = c.size(*(names or ("num_hidden_layers",)))
    if count > MAX_LAYERS:
        c.refuse(names[0] if names else "num_hidden_layers", f"{count} is above {MAX_LAYERS:,}")
    return count


def attention(
    c: Config,
    *,
    head_dim: int | None = None,
    kv_default: int | None = None,
    bias: bool | list[str] = False,
    window: int | None = None,
    **more: Any,
) -> Tree:
    """Multi-head or grouped-query attention by today's usual keys.

    ``kv_default`` is the KV heads of a file that leaves them out (None: as many as query heads),
    ``head_dim`` the width of a head where the file leaves it out (None: d_model / n_heads, rounded
    down).  A null says that the key has no default of its own.
    """
    heads = c.size("num_attention_heads")
    kv_default = None if c.null("num_key_value_heads") else kv_default
    kv_heads = c.size("num_key_value_heads", default=kv_default or heads)
    part: Tree = {"kind": "mha", "n_heads": heads}
    if kv_heads != heads:
        part = {"kind": "gqa", "n_heads": heads, "n_kv_heads": kv_heads}
    stated = c.maybe("head_dim") or (None if c.null("head_dim") else head_dim)
    uneven = stated is None and c.size("hidden_size") % heads
    if stated is not None or uneven:
        part["head_dim"] = stated or c.size("hidden_size") // heads
    return part | given(bias=bias, window=window, **more)


def glu(c: Config, *, width: str = "intermediate_size", bias: bool = False) -> Tree:
    """A gated FFN."""
    return {"kind": "glu", "d_ff": c.size(width)} | given(bias=bias)


def plain(c: Config, *, width: str = "intermediate_size", bias: bool = False) -> Tree:
    """An FFN of two matrices."""
    return {"kind": "plain", "d_ff": c.size(width)} | given(bias=bias)


def mixture(
    c: Config,
    *,
    n_experts: Sequence[str],
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
    part: Tree = {
        "kind": "moe",
        "n_experts": c.size(*n_experts),
        "d_expert": d_expert,
    }
    if needs_top_k or c.maybe(*top_k) is not None:
        part["top_k"] = c.size(*top_k, default=top_k_default)
    if shared and shared_bias:
        shared, d_shared = 1, shared * (d_shared or d_expert)
    if shared:
        part |= {"n_shared": shared} | given(d_shared=d_shared, shared_bias=shared_bias)
    return part | given(**more)


def decoder(
    c: Config,
    blocks: Mapping[str, Tree],
    layers: Sequence[str] | int,
    *,
    tied: bool,
    final_norm: str = "rms",
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
    blocks = {name: block | _partial(block) for name, block in blocks.items()}
    stack |= given(positions=positions, final_norm=final_norm)
    head = {} if c.task == "body" else {"head": {"tied": tied} | given(bias=head_bias)}
    return {
        "d_model": c.size(*width),
        "vocab": c.size("vocab_size"),
        **given(context=c.maybe(*limit)),
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


def text_model(
    c: Config, build: Callable[[Config], Tree], left_out: str, *, tied: bool | None
) -> Tree:
    """The text model of a composite, whose head is tied as the whole says (``tied``: its default).

    With None the text model has the say.
    """
    text = c.needed("text_config")
    text.ignore("model_type", "architectures")
    c.ignore("vision_config", "audio_config")
    tree = build(text)
    if "head" in tree and tied is not None:
        tree["head"]["tied"] = c.flag("tie_word_embeddings", default=tied)
    return tree | {"scope": "text", "notes": [f"left out: {left_out}"]}


def grid(
    mixers: Mapping[str, Tree],
    mixer_of: Sequence[str],
    ffns: Mapping[str, Tree],
    ffn_of: Sequence[str],
    **fields: Any,
) -> tuple[dict[str, Tree], list[str]]:
    """Blocks of the mixers and FFNs that meet, and the block of each layer.

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


def window(c: Config, default: int | None = None, *names: str) -> int | None:
    """The keys a query may meet; none where the file says null."""
    names = names or ("sliding_window",)
    absent = not any(c.null(name) for name in names)
    return c.maybe(*names) or (default if absent else None)


def pattern(layers: Sequence[str]) -> Tree:
    """The shortest ``first`` and repeating ``pattern`` that spell a list of layers.

    Of the last n layers, the longest border (beginning and end alike) leaves their shortest period
    over; the borders of all n are found in one go (Knuth, Morris and Pratt 1977).
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


def by_layer(count: int, rule: Callable[[int], str]) -> list[str]:
    """The block of each layer by its index from 0."""
    return [rule(i) for i in range(count)]


def layer_type(c: Config, kind: str) -> str:
    """The block of an entry of ``layer_types``."""
    return ATTENTION.get(kind) or c.refuse("layer_types", f"{kind!r} is not modelled")


def even(c: Config) -> None:
    """Refuses what a class refuses whose heads have to divide d_model, where no width is stated."""
    d_model, heads = c.size("hidden_size"), c.size("num_attention_heads")
    if d_model % heads and not c.has("head_dim"):
        c.refuse("hidden_size", f"{d_model} is no multiple of {heads} num_attention_heads")


def derived_heads(c: Config) -> None:
    """Refuses heads of another width than d_model / n_heads, where a class knows no other."""
    derived = c.size("hidden_size") // c.size("num_attention_heads")
    stated = c.maybe("head_dim")
    if stated not in (None, derived):
        c.refuse(
            "head_dim", f"{stated}, but heads of this type are {derived} wide, a part of d_model"
        )


def never(c: Config, *flags: str) -> None:
    """Refuses flags that a type has in some files, but that mean something only where false."""
    for flag in flags:
        if c.flag(flag, default=False):
            c.unsupported(f"{flag} true of type {c.type!r}")


def given(**fields: Any) -> Tree:
    """The fields that say something: neither None, False, "none" nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, False, "none", [])}


def idle_cross_attention(c: Config, *, bias: bool = True) -> Tree:
    """Cross-attention that a decoder has by flag, and that nothing runs without an encoder."""
    if not c.flag("add_cross_attention", default=False):
        return {}
    idle = {f"cross_{name}": {"use": "matmul", "dims": ["d_model", "d_model"]} for name in "qkvo"}
    for name in "qkvo" if bias else "o":
        idle[f"cross_{name}_bias"] = {"use": "bias", "dims": ["d_model"]}
    for name in ("cross_norm", "cross_norm_bias"):
        idle[name] = {"use": "norm", "dims": ["d_model"]}
    return {"tensors": {name: tensor | {"stream": "none"} for name, tensor in idle.items()}}
