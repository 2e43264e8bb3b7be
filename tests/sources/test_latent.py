"""DeepSeek-V3's published and measured numbers, and caches of compressed entries."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from txcalc.accounts import registry
from txcalc.errors import DescriptionError, RefusedError
from txcalc.model.model import Model
from txcalc.sources import description, huggingface
from txcalc.workload.question import Question

V3: dict[str, Any] = {
    "model_type": "deepseek_v3", "vocab_size": 129280, "hidden_size": 7168,
    "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_hidden_layers": 61,
    "num_attention_heads": 128, "n_routed_experts": 256, "n_shared_experts": 1,
    "num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 1536,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "num_nextn_predict_layers": 1, "tie_word_embeddings": False,
}  # fmt: skip
V4: dict[str, Any] = {
    "model_type": "deepseek_v4", "vocab_size": 101, "hidden_size": 64, "num_hidden_layers": 3,
    "num_attention_heads": 8, "head_dim": 24, "moe_intermediate_size": 24, "n_routed_experts": 6,
    "num_experts_per_tok": 2, "q_lora_rank": 20, "o_groups": 4, "o_lora_rank": 12,
    "index_n_heads": 3, "index_head_dim": 16, "index_topk": 200, "sliding_window": 8,
    "compress_ratios": [0, 4, 128, 0], "compress_rate_hca": 16,
}  # fmt: skip


def model(config: dict[str, Any]) -> Model:
    tree, _, _ = huggingface.describe(json.dumps(config).encode(), "config.json", name="m")
    return description.build(tree, "tree")


def get(config: dict[str, Any], address: str, **options: Any) -> Any:
    return registry.report_of(address, model(config), Question(**options)).find(address).value


def test_deepseek_v3_as_published() -> None:
    total = get(V3, "params.total")
    assert total == 671_026_404_352
    assert total + get(V3, "params.buffers") == 671_026_419_200
    assert round((total + get(V3, "params.mtp")) / 1e9, 1) == 684.5
    assert get(V3, "params.active") == 37_552_282_624


@pytest.mark.parametrize(
    ("form", "giga"), [("reexpand", 2172.3), ("expanded", 78.37), ("absorbed", 90.65)]
)
def test_the_three_forms_of_a_step(form: str, giga: float) -> None:
    flops = get(V3, "flops.total", phase="decode", ctx=1024, mla=form)
    assert round(flops / 1e9, 1 if giga > 100 else 2) == giga


def test_the_latent_and_the_rotary_key_are_all_that_is_kept() -> None:
    assert get(V3, "kvcache.token", dtype="bf16", ctx=1) == 61 * (512 + 64) * 2


@pytest.mark.parametrize("ctx", [48, 50])
def test_a_cache_of_windows_entries_and_open_blocks(ctx: int) -> None:
    window, entry, index = 8 * 24 * 2, 24 * 2, 16 * 2
    sparse = ctx // 4 * (entry + index) + ctx % 4 * 4 * (entry + index)
    before = 4 * (24 + 16) * (2 + 4)
    heavy = ctx // 16 * entry + ctx % 16 * 2 * entry
    expected = 2 * window + (window + sparse + before) + (window + heavy)
    assert get(V4, "kvcache.sequence", dtype="bf16", ctx=ctx) == expected


BOTH = 16
"""Tokens of whole blocks of both kinds of entries, of 4 tokens and of 16."""


def test_a_token_adds_its_share_of_the_entries_and_nothing_of_open_blocks() -> None:
    """A fourth of an entry and of its index, and a sixteenth; keys of three windows, values of one.

    A layer without entries keeps the values of its window too.
    """
    window, entry, index = 24 * 2, 24 * 2, 16 * 2
    entries = (entry + index) // 4 + entry // 16
    assert get(V4, "kvcache.token", dtype="bf16", ctx=50) == (2 + 1 + 1) * window + entries
    for ctx, full in ((7, False), (8, True), (50, True)):
        grown = entries if full else (2 + 1 + 1) * window + entries
        assert get(V4, "kvcache.growth", dtype="bf16", ctx=ctx) == grown


@pytest.mark.parametrize("ctx", [8, 48, 50, 1001])
def test_growth_is_the_mean_over_a_block_of_what_a_cache_holds_more(ctx: int) -> None:
    now, later = (get(V4, "kvcache.sequence", ctx=tokens) for tokens in (ctx, ctx + BOTH))
    assert get(V4, "kvcache.growth", ctx=ctx) == Fraction(later - now, BOTH)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"qk_head_dim": 200}, "qk_head_dim"),
        ({"moe_layer_freq": 2}, "moe_layer_freq"),
        ({"num_experts": 128}, "contradict"),
        ({"qk_nope_head_dim": None}, "qk_nope_head_dim"),
    ],
)
def test_what_contradicts_itself_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises((DescriptionError, RefusedError), match=words):
        model(V3 | change)
