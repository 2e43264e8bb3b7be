"""Latent attention, the indexer that picks the keys of sparse attention, and their decoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import decoder, grid, kinds, n_layers
from txcalc.sources.readers.mixtures import dense_first, ffns, modules, routed
from txcalc.sources.readers.parts import glu
from txcalc.sources.readers.trees import given

INDEXERS = {"full": "full", "shared": "shared"}
"""Block names of the entries of ``indexer_types``."""


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
    q_default = None if c.null("q_lora_rank") else q_default
    nope, rotary = c.size("qk_nope_head_dim"), c.count(*rope)
    both = c.maybe("qk_head_dim")
    if both not in (None, nope + rotary):
        c.refuse("qk_head_dim", f"{both}, but its parts are {nope} and {rotary}")
    c.ignore("head_dim", "num_key_value_heads", "q_head_dim")
    return {
        "kind": "mla",
        "n_heads": c.size("num_attention_heads"),
        **given(q_rank=c.maybe("q_lora_rank") or q_default),
        "kv_rank": c.size("kv_lora_rank"),
        "nope_dim": nope,
        **given(rope_dim=rotary or None),
        "v_dim": c.size("v_head_dim", default=v_default),
        **given(bias=c.flag("attention_bias", default=False), **more),
    }


def indexer(c: Config, *, heads: int, top_k: int = 2048) -> Tree:
    """The indexer of sparse attention, arXiv:2512.02556, by a type's default sizes."""
    return {
        "index_heads": c.size("index_n_heads", default=heads),
        "index_dim": c.size("index_head_dim", default=128),
        "index_top_k": c.size("index_topk", default=top_k),
    }


def index_types(c: Config, count: int) -> list[str]:
    """Which layers have an indexer: those listed, by a pattern of letters, or every so many."""
    word = c.raw("index_topk_pattern")
    c.ignore("index_topk_freq", "index_skip_topk_offset")
    if not c.has("indexer_types") and isinstance(word, str):
        if len(word) != count or set(word) - set("FS"):
            c.refuse("index_topk_pattern", f"a word of {count} letters F and S is needed")
        return ["full" if letter == "F" else "shared" for letter in word]
    key = "indexer_types" if c.has("indexer_types") or word is None else "index_topk_pattern"
    every = c.size("index_topk_freq", default=1)
    offset = c.count("index_skip_topk_offset", default=2)

    def rule(i: int) -> str:
        return "shared" if max(i - offset + 1, 0) % every else "full"

    return kinds(c, count, rule, key=key, known=INDEXERS)


def latent_decoder(
    c: Config,
    mixers: Mapping[str, Tree],
    mixer_of: Sequence[str] = (),
    *,
    dense: int,
    listed: bool = False,
    bias: bool = False,
    **mixture: Any,
) -> Tree:
    """DeepSeek's decoder: latent attention, FFNs of which the first are dense, and modules.

    ``dense`` is how many, by the type's default; ``mixture`` the differences of
    :func:`~txcalc.sources.readers.mixtures.routed`.
    """
    ffn_of = dense_first(c, n_layers(c), dense, listed=listed)
    moe = {"router_bias": "buffer", "biased": bias, **mixture}
    networks = ffns(c, ffn_of, lambda: glu(c, bias=bias), lambda: routed(c, **moe))
    fields = {name: {"attention": mixer} for name, mixer in mixers.items()}
    first = next(iter(fields))
    blocks, layers = grid(fields, mixer_of or [first] * len(ffn_of), networks, ffn_of, norm="rms")
    kind = {"norm": "rms", **fields[first], "ffn": networks.get("moe")}
    return decoder(c, blocks, layers, tied=False, **modules(c, blocks, kind))
