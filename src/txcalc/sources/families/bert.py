"""BERT, RoBERTa and what has their layers."""

from __future__ import annotations

from typing import Any

from txcalc.sources.readers.config import Config, Tree
from txcalc.sources.readers.encoder import (
    SECOND_BIAS,
    dense,
    encoder,
    labels,
    layer,
    learned,
    lookup,
    norm,
)


def bert(c: Config) -> Tree:
    """arXiv:1810.04805: norms after each sub-layer and over the sum of the embeddings."""
    return _bert(c, layer(c), pretraining=labels(2))


def ernie(c: Config) -> Tree:
    """arXiv:1907.12412: BERT with a table of task types where the file wants one."""
    tasks = {}
    if c.flag("use_task_id", default=False):
        rows = c.size("task_type_vocab_size", default=3)
        tasks = {"task_types": lookup(rows)}
    c.ignore("task_type_vocab_size")
    return _bert(c, layer(c), pretraining=labels(2), tensors=tasks)


def roberta(c: Config) -> Tree:
    """arXiv:1907.11692: BERT without the next sentence."""
    return _bert(c, layer(c), context=_beyond_padding(c))


def ibert(c: Config) -> Tree:
    """arXiv:2101.01321: RoBERTa in integers; an encoder only."""
    c.only("masked", "body")
    c.ignore("quant_mode", "force_dequant")
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
    tensors = {name: tensor | {"copies": n, "used": 1} for name, tensor in adapter.items() if n}
    if c.flag("adapter_layer_norm", default=False):
        tensors |= norm("adapter_norm")
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
    for key in _TAPAS_ANSWERS:
        c.ignore(key)
    stated = c.sizes("type_vocab_sizes")
    sizes = [3, 256, 256, 2, 256, 256, 10] if stated is None else stated
    tables = {f"token_types_{i}": lookup(rows) for i, rows in enumerate(sizes) if rows}
    return encoder(c, layer(c), positions=learned(c), tensors=tables, untied=SECOND_BIAS)


_TAPAS_ANSWERS = (
    "positive_label_weight", "num_aggregation_labels", "aggregation_loss_weight",
    "use_answer_as_supervision", "answer_loss_importance", "use_normalized_answer_loss",
    "huber_loss_delta", "aggregation_temperature", "use_gumbel_for_cells", "answer_loss_cutoff",
    "use_gumbel_for_aggregation", "average_approximation_function", "cell_selection_preference",
    "max_num_rows", "max_num_columns", "average_logits_per_cell", "select_one_column",
    "allow_empty_column_selection", "init_cell_selection_weights_to_zero", "aggregation_labels",
    "reset_position_index_per_cell", "disable_per_token_loss", "no_aggregation_label_index",
)  # fmt: skip
"""Keys of TAPAS that say how answers are found and trained, and change no tensor."""


def big_bird(c: Config) -> Tree:
    """arXiv:2007.14062: BERT whose queries meet blocks of keys, some of them at random."""
    c.ignore("block_size", "num_random_blocks", "rescale_embeddings")
    kind = c.word("attention_type", default="block_sparse", known=("block_sparse", "original_full"))
    bias: bool | list[str] = True if c.flag("use_bias", default=True) else ["o"]
    block = layer(c, bias=bias)
    if kind == "block_sparse":
        block["partial"] = True
    return _bert(c, block, pooled="always", pretraining=labels(2))


def _bert(c: Config, block: Tree, *, types: int = 2, **more: Any) -> Tree:
    c.only("causal", "masked", "body")
    return encoder(
        c, block, positions=learned(c), token_types=c.count("type_vocab_size", default=types),
        **{"untied": SECOND_BIAS, **more},
    )  # fmt: skip


def _beyond_padding(c: Config) -> int:
    """The positions that tokens have: rows up to the padding's are used by none."""
    stated = c.raw("pad_token_id")
    padding = stated if isinstance(stated, int) and stated >= 0 else 1
    return max(1, c.size("max_position_embeddings") - padding - 1)
