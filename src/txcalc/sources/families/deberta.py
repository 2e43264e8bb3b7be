"""DeBERTa: products of their own score a position against a content."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import SECOND_BIAS, encoder, layer, token_types
from txcalc.sources.readers.parts import learned
from txcalc.sources.readers.trees import dense, layer_norm, lookup


def deberta(c: Config) -> Tree:
    """arXiv:2006.03654: no bias of the keys; with relative attention, projections of positions."""
    pairs = _pairs(c)
    tensors = dense("position_k", "d_model", "d_model", bias=False) if "c2p" in pairs else {}
    tensors |= dense("position_q", "d_model", "d_model") if "p2c" in pairs else {}
    if c.flag("talking_head", default=False):
        heads = c.size("num_attention_heads")
        tensors |= dense("talking_logits", heads, heads, bias=False)
        tensors |= dense("talking_weights", heads, heads, bias=False)
    block = layer(c, bias=["q", "v", "o"], decodes=False, tensors=tensors)
    rows = 2 * _reach(c)
    return _deberta(c, block, _distances(c, rows), partial=bool(tensors))


def deberta_v2(c: Config) -> Tree:
    """arXiv:2111.09543: a bias everywhere; positions may share the content's projections."""
    heads, width = c.size("num_attention_heads"), c.size("hidden_size")
    if c.size("attention_head_size", default=width // heads) * heads != width:
        c.refuse("attention_head_size", f"times {heads} heads is not hidden_size {width}")
    pairs = [] if c.flag("share_att_key", default=False) else _pairs(c)
    tensors = dense("position_k", "d_model", "d_model") if "c2p" in pairs else {}
    tensors |= dense("position_q", "d_model", "d_model") if "p2c" in pairs else {}
    buckets = int(c.number("position_buckets", default=-1))
    around = _distances(c, 2 * (buckets if buckets > 0 else _reach(c)))
    if "layer_norm" in _parted(c.word("norm_rel_ebd", default="none")):
        around |= layer_norm("distances_norm")
    kernel = c.count("conv_kernel_size", default=0)
    groups = c.size("conv_groups", default=1)
    if width % groups:
        c.refuse("conv_groups", f"hidden_size {width} is no multiple of {groups}")
    if kernel:
        around |= dense("conv", "d_model", width // groups * kernel) | layer_norm("conv_norm")
    return _deberta(c, layer(c, decodes=False, tensors=tensors), around)


def _deberta(c: Config, block: Tree, around: Tree, *, partial: bool = False) -> Tree:
    """The encoder around a block; what its positions cost is no part's, so it is partial."""
    c.only("masked", "body")
    c.ignore("pooler_hidden_size", "max_relative_positions", "pos_att_type", "position_buckets")
    if partial or c.flag("relative_attention", default=False):
        block["partial"] = True
    legacy = c.flag("legacy", default=True)
    types, biased = token_types(c, 0), _biased(c)
    width = c.size("hidden_size")
    narrow = c.size("embedding_size", default=width)
    more: Tree = {"positions": learned(c) if biased else None, "token_types": types}
    if narrow != width:
        tables = {"positions": c.size("max_position_embeddings") * biased, "token_types": types}
        around |= {name: lookup(rows, narrow) for name, rows in tables.items() if rows}
        more = {"embedding": {"d_embed": narrow}}
    if not legacy and narrow != width:
        c.unsupported("an embedding_size of its own without the legacy head")
    return encoder(
        c, block, tensors=around, head={} if legacy else {"tied": True}, untied=SECOND_BIAS,
        pooled="never", **more,
    )  # fmt: skip


def _distances(c: Config, rows: int) -> Tree:
    return {"distances": lookup(rows)} if c.flag("relative_attention", default=False) else {}


def _pairs(c: Config) -> list[str]:
    """Which of content to position and position to content there are."""
    if not c.flag("relative_attention", default=False):
        return []
    stated = c.raw("pos_att_type")
    return _parted(stated) if isinstance(stated, str) else c.words("pos_att_type") or []


def _parted(words: str) -> list[str]:
    return [word.strip() for word in words.lower().split("|")]


def _reach(c: Config) -> int:
    stated = int(c.number("max_relative_positions", default=-1))
    return stated if stated >= 1 else c.size("max_position_embeddings")


def _biased(c: Config) -> bool:
    return c.flag("position_biased_input", default=True)
