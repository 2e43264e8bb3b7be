"""Types that no public package has, but that published files name.

Facts: tests/oracle/remote.jsonl, each with how its total is known: the size of a published file, a
printed count, or the published code on the meta device.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.oracle import rows
from tests.support.running import find
from txcalc.errors import RefusedError
from txcalc.model.model import Model
from txcalc.sources import description, huggingface

ROWS = rows("remote")
INDEX_KEYS = {"MiniMaxAI/MiniMax-M3 (text)": 57 * 128 * 2}
"""Bytes of an indexer's keys, which the rows' caches leave out."""


def model_of(row: dict[str, Any]) -> Model:
    named = {"model_type": row["type"], "architectures": [row["class"]]} if "type" in row else {}
    text = json.dumps(named | row["config"]).encode()
    tree, _, warnings = huggingface.describe(text, "config.json", name="remote")
    unread = [w for w in warnings if "nothing here reads" in w and not w.endswith(": bias")]
    assert not unread
    return description.build(tree, "tree")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_published_file_is_exact(row: dict[str, Any]) -> None:
    """A module that predicts further tokens stands beside the total, where the row holds both."""
    model = model_of(row)
    assert find(model, "params.total") + find(model, "params.mtp") == row["total"]
    if "active" in row:
        assert find(model, "params.active") == row["active"]


KEEPING = [row for row in ROWS if "kv" in row and row["type"] != "yuan"]
"""Of Yuan the last inputs of its filters are no part's, so that its cache is refused."""


@pytest.mark.parametrize("row", KEEPING, ids=lambda row: row["name"])
def test_what_a_token_keeps(row: dict[str, Any]) -> None:
    model = model_of(row)
    kept = find(model, "kvcache.token", ctx=1, dtype="bf16")
    assert kept == row["kv"] + INDEX_KEYS.get(row["name"], 0)


@pytest.mark.parametrize("type_", ["llada", "Dream"])
def test_diffusion_reads_both_ways_and_keeps_nothing(type_: str) -> None:
    [model] = [model_of(row) for row in ROWS if row.get("type") == type_]
    assert not model.has_decoder
    with pytest.raises(RefusedError, match="no KV cache"):
        find(model, "kvcache.token", ctx=1)


@pytest.mark.parametrize(
    "type_",
    ["arctic", "gpt_refact", "nemotron-nas", "openelm", "orion", "phi3small", "rwkv5", "rwkv7",
     "step3_text"],
)  # fmt: skip
def test_types_known_from_shapes_alone_are_refused_by_name(type_: str) -> None:
    with pytest.raises(RefusedError, match=f"unknown model_type '{type_}'"):
        huggingface.describe(json.dumps({"model_type": type_}).encode(), "c.json", name="m")


def changed(name: str, **keys: Any) -> Model:
    [row] = [row for row in ROWS if row["name"] == name]
    return model_of(row | {"config": row["config"] | keys})


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        ("openbmb/MiniCPM-2B-sft-bf16", {"num_experts": 8}, "num_experts"),
        ("Qwen/Qwen-7B", {"no_bias": False}, "no_bias"),
        ("THUDM/chatglm2-6b", {"pre_seq_len": 128}, "pre_seq_len"),
        ("inclusionAI/Ling-lite", {"use_qk_norm": True}, "use_qk_norm"),
        ("Tele-AI/TeleChat-12B (and v2)", {"embed_layernorm": True}, "embed_layernorm"),
        ("GSAI-ML/LLaDA-8B-Base / -Instruct", {"rope": False}, "rotary"),
        ("MiniMaxAI/MiniMax-M3 (text)", {"attention_output_gate": True}, "attention_output_gate"),
    ],
)
def test_what_the_type_does_not_have_is_refused(
    name: str, keys: dict[str, Any], words: str
) -> None:
    with pytest.raises(RefusedError, match=words):
        changed(name, **keys)
