"""What a whole model's text model is, and the sizes that it has by its class.

Facts: parameters of ``language_model`` of transformers 5.24.0 on the meta device, given the
published configs; blip2-flan-t5-xl also as published (2.85B of T5, its head untied).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.running import find
from txcalc.model.model import Model
from txcalc.sources import description, huggingface
from txcalc.sources.families import alike

FLAN_T5_XL = {
    "model_type": "t5", "d_model": 2048, "d_ff": 5120, "num_heads": 32, "num_layers": 24,
    "num_decoder_layers": 24, "feed_forward_proj": "gated-gelu", "vocab_size": 32128,
    "tie_word_embeddings": False,
}  # fmt: skip
SMALL_T5 = {
    "model_type": "t5", "d_model": 64, "d_ff": 128, "d_kv": 16, "num_heads": 4, "num_layers": 2,
    "num_decoder_layers": 2, "feed_forward_proj": "gated-gelu", "vocab_size": 1000,
}  # fmt: skip
GEMMA_3_4B = {
    "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
    "num_hidden_layers": 34, "sliding_window": 1024,
}  # fmt: skip
GEMMA_3_27B = {
    "model_type": "gemma3_text", "hidden_size": 5376, "intermediate_size": 21504, "head_dim": 128,
    "num_attention_heads": 32, "num_hidden_layers": 62, "num_key_value_heads": 16,
    "sliding_window": 1024,
}  # fmt: skip
PALIGEMMA_2_3B = {
    "model_type": "gemma2", "hidden_size": 2304, "intermediate_size": 9216,
    "num_hidden_layers": 26, "num_key_value_heads": 4, "vocab_size": 257216,
}  # fmt: skip
OPT_2_7B = {
    "model_type": "opt", "hidden_size": 2560, "ffn_dim": 10240, "num_hidden_layers": 32,
    "num_attention_heads": 32, "word_embed_proj_dim": 2560,
}  # fmt: skip


def whole(type_: str, text: dict[str, Any], **keys: Any) -> Model:
    config = {"model_type": type_, "text_config": text, **keys}
    tree, _, warnings = huggingface.describe(json.dumps(config).encode(), "c.json", name="whole")
    assert not warnings
    return description.build(tree, "tree")


@pytest.mark.parametrize(
    ("type_", "text", "total"),
    [
        ("blip-2", FLAN_T5_XL, 2_849_757_184),
        ("instructblip", FLAN_T5_XL, 2_849_757_184),
        ("blip-2", SMALL_T5, 261_632),
        ("blip-2", OPT_2_7B, 2_651_596_800),
        ("gemma3", GEMMA_3_4B, 3_880_263_168),
        ("gemma3", GEMMA_3_27B, 27_009_346_304),
        ("paligemma", PALIGEMMA_2_3B, 2_617_143_552),
    ],
)
def test_the_text_model_as_its_class_has_it(type_: str, text: dict[str, Any], total: int) -> None:
    assert find(whole(type_, text), "params.total") == total


def test_an_encoder_decoder_keeps_its_encoder() -> None:
    model = whole("blip-2", SMALL_T5, use_decoder_only_language_model=False, num_query_tokens=32)
    assert model.has_encoder
    assert model.has_decoder


def test_what_the_class_gave_is_said() -> None:
    said = whole("gemma3", GEMMA_3_4B).notes
    assert any("vocab_size 262,208" in note and "num_attention_heads 8" in note for note in said)
    assert not any("hidden_size" in note for note in said)


def test_null_is_no_size_that_is_left_out() -> None:
    with pytest.raises(Exception, match=r"text_config\.vocab_size: null"):
        whole("gemma3", GEMMA_3_4B | {"vocab_size": None})


@pytest.mark.parametrize(
    ("config", "total"),
    [
        ({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257},
         124_439_808),
        ({"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072,
          "num_attention_heads": 12, "vocab_size": 50272}, 125_239_296),
    ],
)  # fmt: skip
def test_positions_that_are_left_out_are_the_classes(config: dict[str, Any], total: int) -> None:
    """The published counts of GPT-2 and OPT-125M, 1,024 and 2,048 + 2 rows of positions."""
    tree, _, _ = huggingface.describe(json.dumps(config).encode(), "c.json", name="m")
    assert find(description.build(tree, "tree"), "params.total") == total


def test_composites_whose_heads_are_tied_otherwise_are_not_alike() -> None:
    """VoxtralRealtime's head is its token table, Voxtral's and AudioFlamingo3's are their own."""
    assert alike("voxtral", "audioflamingo3")
    assert not alike("voxtral", "voxtral_realtime")
