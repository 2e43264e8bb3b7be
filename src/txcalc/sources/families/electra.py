"""Encoders whose token table is narrower or wider than their layers: ALBERT, ELECTRA and kin."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import (
    SECOND_BIAS,
    dense,
    encoder,
    labels,
    layer,
    learned,
    lookup,
)
from txcalc.sources.readers.layers import MAX_LAYERS, n_layers


def albert(c: Config) -> Tree:
    """arXiv:1909.11942: groups of layers that share their weights, tables of embedding_size."""
    c.only("masked", "body")
    c.ignore("down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks")
    count, groups = n_layers(c), c.size("num_hidden_groups", default=1)
    inner = c.size("inner_group_num", default=1)
    if groups > count or count * inner > MAX_LAYERS:
        c.refuse("num_hidden_groups", f"{groups} groups of {inner} for {count} layers")
    block = layer(c, decodes=False, shared=True)
    layers = [f"group{i * groups // count}-{j}" for i in range(count) for j in range(inner)]
    blocks = dict.fromkeys(layers, block)
    named = c.raw("id2label")
    n = c.size("num_labels", default=len(named) if isinstance(named, dict) and named else 2)
    return encoder(
        c, block if len(blocks) == 1 else blocks, len(layers) if len(blocks) == 1 else layers,
        positions=learned(c), token_types=_types(c), untied=SECOND_BIAS,
        pretraining=labels(n, "sentence_order"),
        embedding={"d_embed": c.size("embedding_size"), "bias": True, "all": True},
    )  # fmt: skip


def electra(c: Config) -> Tree:
    """arXiv:2003.10555: the class ForPreTraining tells replaced tokens apart, without a head."""
    replaced = dense("replaced", "d_model", "d_model") | dense("replaced_score", 1, "d_model")
    described = encoder(
        c, layer(c), positions=learned(c), token_types=_types(c), pooled="never",
        pretraining=replaced, **_embedding(c),
    )  # fmt: skip
    if "replaced" in described.get("tensors", {}):
        del described["head"]
    return described


def rembert(c: Config) -> Tree:
    """arXiv:2010.12821: a narrow table before the layers, and a wide one of its own behind."""
    c.ignore("tie_word_embeddings")
    return encoder(
        c, layer(c), positions=learned(c), token_types=_types(c),
        head={"tied": False, "d_head": c.size("output_embedding_size")},
        embedding={"d_embed": c.size("input_embedding_size"), "bias": True, "all": True},
    )  # fmt: skip


def roformer(c: Config) -> Tree:
    """arXiv:2104.09864: rotary positions, whose sines the class keeps as a frozen table."""
    c.ignore("rotary_value")
    dims = [
        c.size("max_position_embeddings"),
        c.size("hidden_size") // c.size("num_attention_heads"),
    ]
    return encoder(
        c, layer(c), positions={"kind": "rotary"}, token_types=_types(c), pooled="never",
        untied=SECOND_BIAS, tensors={"sines": lookup(*dims)}, **_embedding(c),
    )  # fmt: skip


def roc_bert(c: Config) -> Tree:
    """Su et al., ACL 2022: BERT with tables of a character's sound and shape."""
    tables: Tree = {}
    joined = c.size("hidden_size")
    for name, rows, dim in (("pronunciation", 910, 768), ("shape", 24858, 512)):
        dims = [
            c.size(f"{name}_vocab_size", default=rows), c.size(f"{name}_embed_dim", default=dim)
        ]  # fmt: skip
        tables[name] = lookup(*dims)
        joined += dims[1] if c.flag(f"enable_{name}", default=True) else 0
    if c.flag("concat_input", default=True):
        tables |= dense("map_inputs", "d_model", joined)
    return encoder(
        c, layer(c), positions=learned(c), token_types=_types(c), tensors=tables,
        untied=SECOND_BIAS, pretraining={},
    )  # fmt: skip


def _types(c: Config) -> int:
    return c.count("type_vocab_size", default=2)


def _embedding(c: Config) -> Tree:
    """A projection after the tables where they are not as wide as the layers."""
    width = c.size("hidden_size")
    narrow = c.size("embedding_size", default=None if c.type == "electra" else width)
    if narrow == width:
        return {}
    return {"embedding": {"d_embed": narrow, "bias": True, "all": True}}
