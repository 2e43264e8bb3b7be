"""Rotary positions by family: engines store a table of their channels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.oracle import model_of, rows
from tests.support.running import find
from txcalc.model.model import Model
from txcalc.model.parts.positions import Rotary, Unmarked
from txcalc.sources import description, huggingface
from txcalc.sources.families import TYPES, positions
from txcalc.sources.loading import load

SMALL = {
    "vocab_size": 1000, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
    "num_attention_heads": 4, "max_position_embeddings": 128,
}  # fmt: skip


def model(type_: str, **keys: Any) -> Model:
    text = json.dumps({"model_type": type_, **SMALL, **keys}).encode()
    return description.build(huggingface.describe(text, "c.json", name="m")[0], "tree")


def width(of: Model) -> int | str | None:
    """Rotated channels, ``all``, or None where no rotation is stated."""
    stated = of.stacks["decoder"].positions
    if not isinstance(stated, Rotary):
        return None
    return "all" if stated.width is None else int(stated.width.value)


@pytest.mark.parametrize(
    ("type_", "keys", "channels"),
    [
        ("llama", {}, "all"),
        ("phi", {}, 32),
        ("phi", {"partial_rotary_factor": 0.25}, 16),
        ("phi", {"rope_parameters": {"partial_rotary_factor": 0.25}}, 16),
        ("phi3", {}, "all"),
        ("phi3", {"partial_rotary_factor": 0.75}, 48),
        ("stablelm", {"num_key_value_heads": 4}, 16),
        ("gpt_neox", {"rotary_pct": 0.5}, 32),
        ("gpt_neox", {}, 16),
        ("gpt2", {"n_embd": 64, "n_head": 4, "n_layer": 2, "hidden_size": 64,
                  "num_hidden_layers": 2}, None),
        ("falcon", {"alibi": True}, None),
    ],
)  # fmt: skip
def test_the_family_says_how_many_channels_are_rotated(
    type_: str, keys: dict[str, Any], channels: int | str | None
) -> None:
    assert width(model(type_, **keys)) == channels


def test_layers_with_different_shares_leave_the_width_open() -> None:
    kinds = {"full_attention": 0.5, "sliding_attention": 1.0}
    rope = {kind: {"partial_rotary_factor": share} for kind, share in kinds.items()}
    assert width(model("phi3", rope_parameters=rope)) is None


def test_types_without_positions_say_so() -> None:
    """transformers 5.24: no rotation in the attention of Jamba, Nemotron-H, Zamba and Kimi."""
    for name in ("jamba-v0.1", "nemotron-h-56b", "mamba-130m"):
        assert isinstance(load(name).stacks["decoder"].positions, Unmarked)


PUBLISHED = {row["name"]: row for name in ("models", "types", "remote") for row in rows(name)}


@pytest.mark.parametrize(
    ("name", "keys", "kind"),
    [
        ("THUDM/chatglm-6b (v1.1.0)", {}, "rotary"),
        ("baichuan-inc/Baichuan-7B", {}, "rotary"),
        ("baichuan-inc/Baichuan2-13B-Chat", {}, "alibi"),
        ("baichuan-inc/Baichuan2-13B-Chat", {"hidden_size": 4096, "num_attention_heads": 32},
         "rotary"),
        ("zamba2", {"use_mem_rope": True}, "rotary"),
        ("zamba2", {"use_mem_rope": False}, "none"),
        ("granitemoehybrid", {"position_embedding_type": "rope"}, "rotary"),
        ("granitemoehybrid", {"position_embedding_type": "nope"}, "none"),
        ("kimi_linear", {}, "none"),
    ],
)  # fmt: skip
def test_what_a_family_says_of_its_positions(name: str, keys: dict[str, Any], kind: str) -> None:
    row = PUBLISHED[name]
    of = model_of({**row, "config": {**row["config"], **keys}})
    stated = of.stacks["decoder"].positions
    assert stated is not None
    assert stated.__struct_config__.tag == kind


def test_latents_rotate_what_their_files_say() -> None:
    """deepseek-ai/DeepSeek-V4-Flash, config.json: qk_rope_head_dim 64; Gemma 4 turns all heads."""
    assert width(load("deepseek-v4-flash")) == 64
    assert width(load("gemma4-31b")) == "all"


def test_a_loaded_model_has_its_table_of_cosines_and_sines() -> None:
    """2 bytes for each of 8,030,261,248 parameters and of 131,072 x 128 entries."""
    asked = {"weights": "bf16", "engine": "vllm"}
    loaded = find(load("llama-3.1-8b"), "memory.gpu.loaded", **asked)
    assert loaded == 2 * 8_030_261_248 + 131_072 * 128 * 2


def test_every_type_with_positions_is_known() -> None:
    named = {*positions._WHOLE.split(), *positions._NONE.split()}
    named |= positions._PARTS.keys() | positions._CHANNELS.keys() | positions._IF_STATED.keys()
    assert named <= TYPES.keys()
