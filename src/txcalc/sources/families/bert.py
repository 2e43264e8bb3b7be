"""BERT, RoBERTa and what has their layers."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import SECOND_BIAS, encoder, labels, layer, token_types
from txcalc.sources.readers.layers import decoder, n_layers
from txcalc.sources.readers.parts import learned, mha, plain
from txcalc.sources.readers.trees import dense, given, layer_norm, lookup, noted, tensor


def bert(c: Config) -> Tree:
    """arXiv:1810.04805: norms after each sub-layer and over the sum of the embeddings."""
    return _bert(c, layer(c), pretraining=labels(2))


def ernie(c: Config) -> Tree:
    """arXiv:1907.12412: BERT with a table of task types where the file wants one."""
    tasks: Tree = {}
    if c.flag("use_task_id", default=False):
        tasks["task_types"] = lookup(c.size("task_type_vocab_size", default=3))
    c.ignore("task_type_vocab_size")
    return _bert(c, layer(c), pretraining=labels(2), tensors=tasks)


def roberta(c: Config) -> Tree:
    """arXiv:1907.11692: BERT without the next sentence."""
    return _bert(c, layer(c), context=_beyond_padding(c))


def ibert(c: Config) -> Tree:
    """arXiv:2101.01321: RoBERTa in integers; an encoder only."""
    c.only("masked", "body")
    c.ignore("quant_mode")
    return _bert(c, layer(c, decodes=False), context=_beyond_padding(c))


def roberta_prelayernorm(c: Config) -> Tree:
    """arXiv:1904.01038 (fairseq): RoBERTa with norms before each sub-layer and after the last."""
    return _bert(c, layer(c, placement="pre"), final_norm="layer", context=_beyond_padding(c))


def xlm_roberta_xl(c: Config) -> Tree:
    """arXiv:2105.00572: norms before each sub-layer and after the last, none of the embeddings."""
    return _bert(
        c, layer(c, placement="pre"), embedding_norm="none", final_norm="layer", types=1,
        context=_beyond_padding(c),
    )  # fmt: skip


def megatron_bert(c: Config) -> Tree:
    """arXiv:1909.08053 section 5.3: norms as in XLM-RoBERTa-XL."""
    return _bert(
        c, layer(c, placement="pre"), embedding_norm="none", final_norm="layer",
        pretraining=labels(2),
    )  # fmt: skip


def xmod(c: Config) -> Tree:
    """arXiv:2205.06266: an adapter for each language, of which a token uses one."""
    c.ignore("ln_before_adapter", "adapter_reuse_layer_norm", "default_language")
    before = c.flag("pre_norm", default=False)
    narrow = c.size("hidden_size") // c.size("adapter_reduction_factor", default=2)
    languages = c.words("languages")
    n = len(set(languages)) if languages is not None else 1
    adapter = dense("adapter_down", narrow, "d_model") | dense("adapter_up", "d_model", narrow)
    tensors = {name: row | {"copies": n, "used": 1} for name, row in adapter.items() if n}
    if c.flag("adapter_layer_norm", default=False):
        tensors |= layer_norm("adapter_norm")
    block = layer(c, placement="pre" if before else "post", tensors=tensors)
    final_norm = "layer" if before else "none"
    return _bert(c, block, final_norm=final_norm, context=_beyond_padding(c))


def bert_generation(c: Config) -> Tree:
    """arXiv:1907.12461: BERT without token types, its head a projection with a bias."""
    c.only("causal", "body")
    return encoder(
        c, layer(c), positions=learned(c), head={"transform": None}, untied=SECOND_BIAS,
        pooled="never",
    )  # fmt: skip


def layoutlm(c: Config) -> Tree:
    """arXiv:1912.13318: BERT with tables of x, y, height and width; the pooler is always there."""
    c.only("masked", "body")
    rows = c.size("max_2d_position_embeddings", default=1024)
    tables = {f"{name}_positions": lookup(rows) for name in ("x", "y", "height", "width")}
    return _bert(c, layer(c, decodes=False), pooled="always", tensors=tables)


def tapas(c: Config) -> Tree:
    """arXiv:2004.02349: BERT with seven tables of token types."""
    c.only("masked", "body")
    c.ignore("num_aggregation_labels", "aggregation_labels", "select_one_column")
    stated = c.sizes("type_vocab_sizes")
    sizes = [3, 256, 256, 2, 256, 256, 10] if stated is None else stated
    tables = {f"token_types_{i}": lookup(rows) for i, rows in enumerate(sizes) if rows}
    return encoder(c, layer(c), positions=learned(c), tensors=tables, untied=SECOND_BIAS)


def big_bird(c: Config) -> Tree:
    """arXiv:2007.14062: BERT whose queries attend to blocks of keys, some at random."""
    c.ignore("block_size", "num_random_blocks")
    kind = c.word("attention_type", default="block_sparse", known=("block_sparse", "original_full"))
    bias: bool | list[str] = True if c.flag("use_bias", default=True) else ["o"]
    block = layer(c, bias=bias) | given(partial=kind == "block_sparse")
    return _bert(c, block, pooled="always", pretraining=labels(2))


def distilbert(c: Config) -> Tree:
    """arXiv:1910.01108: BERT without token types and pooler."""
    c.only("masked", "body")
    c.ignore("sinusoidal_pos_embds", "tie_weights_")
    block = {
        "norm": "layer",
        "placement": "post",
        "attention": mha(c.size("n_heads", "num_attention_heads"), bias=True),
        "ffn": plain(c, width="hidden_dim", bias=True),
    }
    return encoder(
        c, block, n_layers(c, "n_layers", "num_hidden_layers"), positions=learned(c),
        pooled="never", width=("dim", "hidden_size"),
    )  # fmt: skip


def mpnet(c: Config) -> Tree:
    """arXiv:2004.09297: no token types, and a table of biases by distance for all layers."""
    c.only("masked", "body")
    buckets = c.size("relative_attention_num_buckets", default=32)
    distances = {"distances": lookup(buckets, c.size("num_attention_heads"))}
    return encoder(
        c, layer(c, decodes=False), positions=learned(c), tensors=distances, untied=SECOND_BIAS
    )


def luke(c: Config) -> Tree:
    """arXiv:2010.01057: entities beside words, with queries for each pair of the two kinds."""
    c.only("masked", "body")
    tensors: Tree = {}
    if c.flag("use_entity_aware_attention", default=True):
        for name in ("q_word_entity", "q_entity_word", "q_entity_entity"):
            tensors |= dense(name, "d_model", "d_model")
    block = layer(c, decodes=False, partial=True, tensors=tensors)
    types = token_types(c)
    entities, narrow = c.size("entity_vocab_size"), c.size("entity_emb_size")
    around: Tree = {
        "entities": lookup(entities, narrow),
        "entity_positions": lookup(c.size("max_position_embeddings")),
        **({"entity_types": lookup(types)} if types else {}),
        **layer_norm("entity_norm"),
    }
    if narrow != c.size("hidden_size"):
        around |= dense("entity_project", "d_model", narrow, bias=False)
    tree = encoder(
        c, block, positions=learned(c), token_types=types, tensors=around,
        pooled="always" if c.pooler else "never",
    )  # fmt: skip
    if "head" in tree:
        tree["tensors"] |= _entity_head(entities, narrow, tied=tree["head"]["tied"])
        tree["head"]["tied"] = False
    return tree


def _entity_head(entities: int, narrow: int, *, tied: bool) -> Tree:
    """The entities' own masked-LM head; a tied one has their table, as the words' never has."""
    tensors = dense("entity_transform", narrow, "d_model")
    tensors |= layer_norm("entity_transform_norm", narrow) | {
        "entity_bias": tensor("bias", entities)
    }
    output = dense("entity_output", entities, narrow, bias=False) | SECOND_BIAS
    return tensors if tied else tensors | output


def git(c: Config) -> Tree:
    """arXiv:2205.14100: a decoder of BERT's layers, with images as a prefix; a head of its own."""
    c.only("causal", "body")
    if c.has("num_image_with_embedding"):
        c.unsupported("an embedding for each image of several (num_image_with_embedding)")
    c.ignore("num_image_with_embedding", "vision_config")
    attend = mha(c.size("num_attention_heads"), bias=True)
    block = {"norm": "layer", "placement": "post", "attention": attend, "ffn": plain(c, bias=True)}
    tree = decoder(
        c, {"decoder": block}, n_layers(c), tied=False, positions=learned(c), head_bias=True,
        embedding_norm="layer", final_norm="none", scope="text",
    )  # fmt: skip
    return noted(tree, "left out: the image encoder, and what joins it")


def _bert(c: Config, block: Tree, *, types: int = 2, **more: Any) -> Tree:
    c.only("causal", "masked", "body")
    return encoder(
        c, block, positions=learned(c), token_types=token_types(c, types),
        **{"untied": SECOND_BIAS, **more},
    )  # fmt: skip


def _beyond_padding(c: Config) -> int:
    """The positions that tokens have: rows up to the padding's are used by none."""
    stated = c.raw("pad_token_id")
    padding = stated if isinstance(stated, int) and stated >= 0 else 1
    return max(1, c.size("max_position_embeddings") - padding - 1)
