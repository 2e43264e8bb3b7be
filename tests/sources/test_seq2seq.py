"""Encoder-decoder configs: which stacks a class has, and products that cross between the two.

FLOPs are FlopCounterMode's of transformers 5.24.0 on the meta device, eager attention.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.oracle import Row, rows
from tests.support.oracle import model_of as described
from txcalc.accounts import registry
from txcalc.errors import RefusedError
from txcalc.model.model import Model
from txcalc.sources import description, huggingface
from txcalc.workload.question import Question

SMALL = {"d_model": 96, "vocab_size": 1003, "encoder_layers": 5, "decoder_layers": 3}
HEADS = {"encoder_attention_heads": 6, "decoder_attention_heads": 6, "max_position_embeddings": 80}
BART = SMALL | HEADS | {"model_type": "bart", "encoder_ffn_dim": 136, "decoder_ffn_dim": 152}
T5 = {"model_type": "t5", "num_layers": 5, "num_decoder_layers": 3, "d_model": 96, "num_heads": 6,
      "d_kv": 20, "d_ff": 200, "vocab_size": 1003}  # fmt: skip
GEMMA = {"hidden_size": 96, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 20,
         "intermediate_size": 200, "max_position_embeddings": 80, "vocab_size": 1003}  # fmt: skip
T5GEMMA = {"model_type": "t5gemma", "encoder": GEMMA | {"num_hidden_layers": 5},
           "decoder": GEMMA | {"num_hidden_layers": 3}}  # fmt: skip


def model_of(config: dict[str, Any], class_: str, **changes: Any) -> Model:
    text = json.dumps({"architectures": [class_], **config, **changes}).encode()
    tree, _, _ = huggingface.describe(text, "config.json", name="small")
    return description.build(tree, "tree")


def value(model: Model, address: str, **options: Any) -> Any:
    return registry.report_of(address, model, Question(**options)).find(address).value


def prefill(model: Model, tokens: int, source: int | None = None) -> Any:
    return value(
        model, "flops.total", phase="prefill", scores="square", ctx=tokens, source=source
    )  # fmt: skip


@pytest.mark.parametrize(
    ("config", "class_", "total"),
    [
        (BART, "BartForConditionalGeneration", 745808),
        (BART, "BartModel", 745808),
        (BART | {"tie_word_embeddings": False}, "BartForConditionalGeneration", 1034672),
        (T5, "T5ForConditionalGeneration", 912768),
        (T5, "T5WithLMHeadModel", 912768),
        (T5 | {"tie_word_embeddings": False}, "T5ForConditionalGeneration", 912768 + 1003 * 96),
        (T5GEMMA, "T5GemmaForConditionalGeneration", 995136),
    ],
)
def test_parameters_of_the_class(config: dict[str, Any], class_: str, total: int) -> None:
    assert value(model_of(config, class_), "params.total") == total


def test_an_encoder_alone_has_the_tables_and_the_layers_that_read() -> None:
    model = model_of(T5, "T5EncoderModel")
    assert not model.has_decoder
    layer = 4 * 96 * 120 + 2 * 96 * 200 + 2 * 96
    assert value(model, "params.total") == 1003 * 96 + 32 * 6 + 5 * layer + 96
    with pytest.raises(RefusedError):
        value(model, "kvcache.total", ctx=16)


def test_a_decoder_alone_never_runs_its_cross_attention() -> None:
    model = model_of(BART, "BartForCausalLM")
    assert prefill(model, 16) == 9716736
    assert value(model, "params.block.decoder.tensors") == 4 * 96 * 97 + 2 * 96
    assert value(model, "kvcache.cross", ctx=16) == 0


def test_both_stacks_and_the_keys_and_values_between_them() -> None:
    assert prefill(model_of(BART, "BartForConditionalGeneration"), 16, 24) == 30802944
    assert prefill(model_of(T5, "T5ForConditionalGeneration"), 16, 24) == 39300096


def test_an_encoder_of_its_own_width() -> None:
    narrow = model_of(T5GEMMA, "T5GemmaForConditionalGeneration")
    wide = model_of(
        T5GEMMA,
        "T5GemmaForConditionalGeneration",
        encoder=T5GEMMA["encoder"] | {"hidden_size": 192},  # type: ignore[operator]
    )
    assert prefill(narrow, 16, 24) == 38378496
    assert prefill(wide, 16, 24) == 60681216
    assert value(wide, "params.block.decoder_full.cross_attention.k") == 192 * 2 * 20


def test_merged_attention_reads_the_source_by_the_same_weights() -> None:
    text = {"model_type": "t5gemma2_text", "num_hidden_layers": 5}
    config = {"model_type": "t5gemma2", "encoder": {"text_config": GEMMA | text},
              "decoder": GEMMA | {"num_hidden_layers": 3}}  # fmt: skip
    model = model_of(config, "T5Gemma2ForConditionalGeneration")
    once = {"phase": "prefill", "ctx": 16, "source": 24}
    keys = value(model, "flops.block.decoder_sliding.attention.k", **once)
    assert keys == 2 * 96 * 2 * 20 * (16 + 24)
    across = value(model, "flops.block.decoder_sliding.attention.source_scores", **once)
    assert across == 4 * 6 * 20 * 16 * 24
    assert value(model, "params.block.decoder_sliding.attention.k") == 96 * 2 * 20
    assert value(model, "kvcache.cross", ctx=16, source=24, dtype="bf16") == 3 * 24 * 2 * 40 * 2


def test_convolutions_before_an_encoder_run_over_its_frames() -> None:
    speech = SMALL | HEADS | {"model_type": "whisper", "encoder_ffn_dim": 136, "num_mel_bins": 80}
    speech |= {"decoder_ffn_dim": 152, "max_source_positions": 40, "max_target_positions": 20}
    model = model_of(speech, "WhisperForConditionalGeneration")
    stem = value(model, "flops.tensors", phase="prefill", ctx=16, source=40)
    assert stem == 2 * 3 * 96 * (80 * 80 + 96 * 40)
    assert value(model, "flops.tensors", phase="decode", ctx=16, source=40) == 0


LEARNED = [
    row for row in rows("seq2seq") if isinstance(row["config"].get("max_position_embeddings"), int)
]


@pytest.mark.parametrize("row", LEARNED, ids=lambda row: row["name"])
def test_the_context_of_a_config_is_the_length_of_its_positions(row: Row) -> None:
    context = described(row).context
    assert context is not None
    assert context.value == row["config"]["max_position_embeddings"]


def test_an_encoder_of_t5gemma_sees_a_window_on_either_side() -> None:
    """transformers' masking_utils: a two-sided window holds what is at most its size away."""
    sides = {side: T5GEMMA[side] | {"sliding_window": 16} for side in ("encoder", "decoder")}  # type: ignore[operator]
    model = model_of(T5GEMMA, "T5GemmaForConditionalGeneration", **sides)
    windows = {
        name: getattr(block.attention, "window", None) for name, block in model.blocks.items()
    }
    sizes = {name: window.value for name, window in windows.items() if window is not None}
    assert sizes == {"encoder_sliding": 16 + 1 + 16, "decoder_sliding": 16}
