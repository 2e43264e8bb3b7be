"""What families share: attention by its usual keys, a decoder around blocks, layer patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from txcalc.sources.config import Config

Tree = dict[str, Any]

MAX_LAYERS = 100_000


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


def decoder(
    c: Config,
    blocks: Mapping[str, Tree],
    layers: Sequence[str] | int,
    *,
    tied: bool,
    final_norm: str = "rms",
    positions: Tree | None = None,
    head_bias: bool = False,
    **more: Any,
) -> Tree:
    """A decoder-only description: its blocks, which layer is which, and the head.

    ``layers`` names the block of every layer, or counts the layers of the only block.  ``tied`` is
    the type's default where the file does not say.
    """
    tied = c.flag("tie_word_embeddings", default=tied)
    stack: Tree = {"count": layers, "pattern": list(blocks)}
    if not isinstance(layers, int):
        blocks = {name: block for name, block in blocks.items() if name in layers}
        stack = pattern(layers)
    stack |= given(positions=positions, final_norm=final_norm)
    head = {} if c.task == "body" else {"head": {"tied": tied} | given(bias=head_bias)}
    return {
        "d_model": c.size("hidden_size"),
        "vocab": c.size("vocab_size"),
        **given(context=c.maybe("max_position_embeddings")),
        "blocks": dict(blocks),
        "layers": stack,
        **head,
        **more,
    }


def pattern(layers: Sequence[str]) -> Tree:
    """The shortest ``first`` and repeating ``pattern`` that spell a list of layers."""
    count = len(layers)
    for length in range(1, count + 1):
        for period in range(1, length + 1):
            first = length - period
            if all(layers[i] == layers[i - period] for i in range(length, count)):
                return {
                    "count": count,
                    **given(first=list(layers[:first])),
                    "pattern": list(layers[first:length]),
                }
    raise ValueError("no layers")


def by_layer(count: int, rule: Callable[[int], str]) -> list[str]:
    """The block of each layer by its index from 0."""
    return [rule(i) for i in range(count)]


def layer_type(c: Config, kind: str) -> str:
    """The block of an entry of ``layer_types``."""
    known = {"full_attention": "full", "sliding_attention": "sliding"}
    return known.get(kind) or c.refuse("layer_types", f"{kind!r} is not modelled")


def given(**fields: Any) -> Tree:
    """The fields that say something: neither None, False, "none" nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, False, "none", [])}
