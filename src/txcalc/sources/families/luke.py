"""LUKE: an encoder of words and of the entities they name."""

from __future__ import annotations

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import (
    SECOND_BIAS,
    dense,
    encoder,
    layer,
    learned,
    lookup,
    norm,
)


def luke(c: Config) -> Tree:
    """arXiv:2010.01057: entities beside words, with queries for each pair of the two kinds."""
    c.only("masked", "body")
    tensors: Tree = {}
    if c.flag("use_entity_aware_attention", default=True):
        for name in ("q_word_entity", "q_entity_word", "q_entity_entity"):
            tensors |= dense(name, "d_model", "d_model")
    block = layer(c, decodes=False, partial=True, tensors=tensors)
    types = c.count("type_vocab_size", default=2)
    entities, narrow = c.size("entity_vocab_size"), c.size("entity_emb_size")
    around: Tree = {
        "entities": lookup(entities, narrow),
        "entity_positions": lookup(c.size("max_position_embeddings")),
        **({"entity_types": lookup(types)} if types else {}),
        **norm("entity_norm"),
    }
    if narrow != c.size("hidden_size"):
        around |= dense("entity_project", "d_model", narrow, bias=False)
    described = encoder(
        c, block, positions=learned(c), token_types=types, pooled="always", tensors=around,
    )  # fmt: skip
    if "head" in described:
        described["tensors"] |= _entity_head(entities, narrow, tied=described["head"]["tied"])
        described["head"]["tied"] = False
    return described


def _entity_head(entities: int, narrow: int, *, tied: bool) -> Tree:
    """The entities' own masked-LM head; a tied one has their table, as the words' never has."""
    found = dense("entity_transform", narrow, "d_model") | norm("entity_transform_norm", narrow)
    found["entity_bias"] = {"use": "bias", "dims": [entities]}
    return found if tied else found | dense("entity_output", entities, narrow, bias=False) | (
        SECOND_BIAS
    )  # fmt: skip
