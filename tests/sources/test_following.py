"""Sizes of free tensors that follow a dimension: they move with ``--set``, in pairs too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sources.test_latent import V3
from txcalc.model.model import Model
from txcalc.sources import huggingface
from txcalc.sources.families.encoder_decoder import _in_number
from txcalc.sources.loading import built

MIMO = {
    "model_type": "mimo", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 100,
    "num_nextn_predict_layers": 1,
}  # fmt: skip


def tree_of(config: dict[str, Any]) -> Any:
    return huggingface.describe(json.dumps(config).encode(), "c.json", name="m")[0]


def wider(config: dict[str, Any], width: int) -> Model:
    return built(tree_of(config), "tree", [f"d_model={width}"])


@pytest.mark.parametrize("config", [V3, MIMO], ids=["deepseek_v3", "mimo"])
def test_what_joins_a_module_follows_the_width(config: dict[str, Any]) -> None:
    """arXiv:2412.19437 section 2.2: a projection of two streams into one."""
    width = 2 * config["hidden_size"]
    module = wider(config, width).mtp
    assert module is not None
    assert [size.value for size in module.tensors["project"].dims] == [width, 2 * width]


def test_a_decoders_idle_cross_attention_follows_the_width() -> None:
    bart = {
        "model_type": "bart", "architectures": ["BartForCausalLM"], "d_model": 64,
        "vocab_size": 100, "decoder_layers": 2, "decoder_ffn_dim": 96, "encoder_layers": 1,
        "decoder_attention_heads": 4, "encoder_attention_heads": 4, "encoder_ffn_dim": 96,
        "max_position_embeddings": 32, "tie_word_embeddings": True,
    }  # fmt: skip
    tree = tree_of(bart)
    dims = {name: row["dims"] for name, row in tree["blocks"]["decoder"]["tensors"].items()}
    assert dims["cross_q"] == [64, "d_model"]
    assert dims["cross_o"] == ["d_model", 64]


@pytest.mark.parametrize(
    ("size", "number"),
    [("d_model", 64), ("2*d_model", 128), ("2*3*d_model", 384), (7, 7), ("2*n_heads", "2*n_heads"),
     ("2*d_model*n_heads", "128*n_heads"), ("n_heads", "n_heads")],
)  # fmt: skip
def test_a_half_of_a_pair_has_its_own_letters_in_numbers(
    size: int | str, number: int | str
) -> None:
    assert _in_number(size, {"d_model": 64, "vocab": 100}) == number
