"""What families share: parts by their usual keys, and what a type refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from txcalc.sources.readers.config import Config, Tree


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


def attentions(c: Config, keys: int | None, **more: Any) -> dict[str, Tree]:
    """Attention with all keys and with a window of ``keys``, as mixers of a grid of blocks."""
    windows = {"full": None, "sliding": keys}
    return {
        name: {"attention": attention(c, window=size, **more)} for name, size in windows.items()
    }


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


def window(c: Config, default: int | None = None, *names: str) -> int | None:
    """The keys a query may meet; none where the file says null."""
    names = names or ("sliding_window",)
    absent = not any(c.null(name) for name in names)
    return c.maybe(*names) or (default if absent else None)


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
    return tree | {"scope": "text", "notes": [*tree.get("notes", []), f"left out: {left_out}"]}


def sized(c: Config, name: str, default: int) -> int:
    """A size whose key may be left out, but not null."""
    return c.size(name) if c.null(name) else c.size(name, default=default)


def on(c: Config, name: str, *, default: bool) -> bool:
    """A flag that is false where it is null."""
    c.ignore(name)
    return not c.null(name) and c.flag(name, default=default)


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


def untied(tree: Tree) -> Tree:
    """The same with a head of its own, whatever the file says: the class ties none."""
    return tree | {"head": tree["head"] | {"tied": False}} if "head" in tree else tree


def noted(tree: Tree, note: str | None) -> Tree:
    """The same with a note, if there is one."""
    return tree | given(notes=[note] if note else None)
