"""Encoders whose token table is narrower or wider than their layers: ALBERT, ELECTRA, RemBERT."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import (
    REPLACED,
    SECOND_BIAS,
    encoder,
    labels,
    layer,
    projected,
    replaced_or_head,
    token_types,
)
from txcalc.sources.readers.labels import n_labels
from txcalc.sources.readers.layers import MAX_LAYERS, n_layers
from txcalc.sources.readers.parts import learned
from txcalc.sources.readers.trees import dense, lookup


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
    return encoder(
        c, block if len(blocks) == 1 else blocks, len(layers) if len(blocks) == 1 else layers,
        positions=learned(c), token_types=token_types(c), untied=SECOND_BIAS,
        pretraining=labels(n_labels(c), "sentence_order"),
        **projected(c.size("embedding_size")),
    )  # fmt: skip


def electra(c: Config) -> Tree:
    """arXiv:2003.10555: the class ForPreTraining detects replaced tokens, without a head."""
    return replaced_or_head(encoder(
        c, layer(c), positions=learned(c), token_types=token_types(c), pooled="never",
        pretraining=REPLACED, **_embedding(c),
    ))  # fmt: skip


def rembert(c: Config) -> Tree:
    """arXiv:2010.12821: a narrow table before the layers, and a wide one of its own behind."""
    c.ignore("tie_word_embeddings")
    return encoder(
        c, layer(c), positions=learned(c), token_types=token_types(c),
        head={"tied": False, "d_head": c.size("output_embedding_size")},
        **projected(c.size("input_embedding_size")),
    )  # fmt: skip


def roformer(c: Config) -> Tree:
    """arXiv:2104.09864: rotary positions, whose sines the class keeps as a frozen table."""
    c.ignore("rotary_value")
    rows, heads = c.size("max_position_embeddings"), c.size("num_attention_heads")
    sines = {"sines": lookup(rows, c.size("hidden_size") // heads)}
    return encoder(
        c, layer(c), positions={"kind": "rotary"}, token_types=token_types(c), pooled="never",
        untied=SECOND_BIAS, tensors=sines, **_embedding(c),
    )  # fmt: skip


def roc_bert(c: Config) -> Tree:
    """Su et al., ACL 2022: BERT with tables of a character's sound and shape."""
    tables: Tree = {}
    joined = c.size("hidden_size")
    for name, rows, dim in (("pronunciation", 910, 768), ("shape", 24858, 512)):
        width = c.size(f"{name}_embed_dim", default=dim)
        tables[name] = lookup(c.size(f"{name}_vocab_size", default=rows), width)
        joined += width if c.flag(f"enable_{name}", default=True) else 0
    if c.flag("concat_input", default=True):
        tables |= dense("map_inputs", "d_model", joined)
    return encoder(
        c, layer(c), positions=learned(c), token_types=token_types(c), tensors=tables,
        untied=SECOND_BIAS, pretraining={},
    )  # fmt: skip


def _embedding(c: Config) -> Tree:
    """A projection after the tables where they are not as wide as the layers."""
    width = c.size("hidden_size")
    narrow = c.size("embedding_size", default=None if c.type == "electra" else width)
    return {} if narrow == width else projected(narrow)
