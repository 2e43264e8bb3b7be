"""T5 and what kept its shape: relative positions, RMSNorm, no biases, heads of d_kv."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.layers import by_layer, n_layers
from txcalc.sources.readers.parts import glu, mha, plain
from txcalc.sources.readers.seq2seq import Made, Side, described, stack
from txcalc.sources.readers.trees import given, lookup, tensor


def t5(c: Config) -> Tree:
    """arXiv:1910.10683, and v1.1 (arXiv:2002.05202): the FFN is gated where the file says so."""
    return _t5(c, ffn="relu")


def mt5(c: Config) -> Tree:
    """arXiv:2010.11934: v1.1 over many languages."""
    return _t5(c, ffn="gated-gelu")


def umt5(c: Config) -> Tree:
    """arXiv:2304.09151: a table of relative positions in every layer."""
    return _t5(c, ffn="gated-gelu", each_layer=True)


def longt5(c: Config) -> Tree:
    """arXiv:2112.07916: encoder windows of ``local_radius`` tokens to each side.

    Transient-global attention adds a summary of each block of tokens, which no part describes.
    """
    kinds = ("local", "transient-global")
    kind = c.word("encoder_attention_type", default="local", known=kinds)
    c.ignore("global_block_size")
    window = 2 * c.size("local_radius", default=127) + 1
    if kind == "local":
        return _t5(c, ffn="relu", window=window)
    positions = _positions(c)
    table = {"global_positions": lookup(positions["n_buckets"], positions["n_heads"])}
    summary = {"tensors": {"global_norm": tensor("norm", "d_model")}, "partial": True}
    return _t5(c, ffn="relu", window=window, encoder=summary, tensors=table)


def switch_transformers(c: Config) -> Tree:
    """arXiv:2101.03961: every few layers, one expert of several for each token."""
    if _gated(c, "relu"):
        c.unsupported("a gated FFN in Switch Transformers")
    c.ignore("expert_capacity", "router_dtype", "router_ignore_padding_tokens")
    experts = {
        "kind": "moe",
        "n_experts": c.size("num_experts"),
        "top_k": 1,
        "d_expert": c.size("d_ff"),
        "expert": "plain",
    } | given(router_bias=c.flag("router_bias", default=False))

    def made(side: Side) -> Made:
        blocks = {"dense": _block(c, side, gated=False), "moe": _block(c, side, gated=False)}
        blocks["moe"]["ffn"] = experts
        sparse = _sparse(c, side)
        layers = by_layer(_count(c, side), lambda i: "moe" if sparse(i) else "dense")
        named = [f"{side}_{kind}" for kind in layers]
        kept = {f"{side}_{kind}": block for kind, block in blocks.items() if kind in layers}
        return kept, stack(named, positions=_positions(c), final_norm="rms")

    tied = c.flag("tie_word_embeddings", default=True)
    return described(c, made, d_model=_d_model(c), vocab=c.size("vocab_size"), tied=tied)


def _sparse(c: Config, side: Side) -> Callable[[int], bool]:
    """Which layers have experts: those behind each step, counted by the class from 0."""
    wanted = c.count(f"num_sparse_{side}_layers", default=3)
    count = _count(c, side)
    step = c.count(f"{side}_sparse_step", default=count // wanted if wanted else count)
    return lambda i: step == 1 or (step > 0 and i % step == 1)


def _t5(
    c: Config,
    *,
    ffn: str,
    window: int | None = None,
    each_layer: bool = False,
    encoder: Tree | None = None,
    **more: Any,
) -> Tree:
    """The file's own tie flag says whether the head has a weight; the stacks share their table."""
    gated = _gated(c, ffn)

    def made(side: Side) -> Made:
        block = _block(c, side, gated=gated)
        if side == "encoder":
            block["attention"] = block["attention"] | given(window=window)
            block |= encoder or {}
        positions = _positions(c)
        if each_layer:
            table = lookup(positions["n_buckets"], positions["n_heads"])
            block["tensors"] = {"positions": table}
        fields = given(positions=None if each_layer else positions, final_norm="rms")
        return {side: block}, stack(_count(c, side), side, **fields)

    return described(
        c,
        made,
        d_model=_d_model(c),
        vocab=c.size("vocab_size"),
        tied=c.flag("tie_word_embeddings", default=True),
        context=c.maybe("n_positions"),
        one_table=True,
        **more,
    )


def _block(c: Config, side: Side, *, gated: bool) -> Tree:
    heads = c.size("num_heads", "num_attention_heads")
    part = mha(heads, head_dim=c.size("d_kv", "head_dim", default=64))
    cross = part if side == "decoder" else None
    ffn = (glu if gated else plain)(c, width="d_ff")
    return {"norm": "rms", "attention": part, **given(cross_attention=cross), "ffn": ffn}


def _positions(c: Config) -> Tree:
    return {
        "kind": "relative",
        "n_buckets": c.size("relative_attention_num_buckets", default=32),
        "n_heads": c.size("num_heads", "num_attention_heads"),
    }


def _count(c: Config, side: Side) -> int:
    if side == "decoder" and c.has("num_decoder_layers"):
        return n_layers(c, "num_decoder_layers")
    c.ignore("num_decoder_layers")
    return n_layers(c, "num_layers", "num_hidden_layers")


def _d_model(c: Config) -> int:
    return c.size("d_model", "hidden_size")


def _gated(c: Config, usual: str) -> bool:
    """What ``feed_forward_proj`` means (``relu``, ``gated-gelu``), which a flag may repeat."""
    kind, *rest = c.word("feed_forward_proj", default=usual).split("-")
    if len(rest) > 1 or (rest and kind != "gated"):
        c.refuse("feed_forward_proj", "an activation is needed, or 'gated-' and an activation")
    gated = kind == "gated"
    if c.flag("is_gated_act", default=gated) != gated:
        c.refuse("is_gated_act", f"it contradicts feed_forward_proj {kind!r}")
    return gated
