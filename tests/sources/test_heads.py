"""Task heads: reward models, labels, and what a head multiplies; their counts are an oracle's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sources.test_bad_configs import GOOD
from tests.support.running import find, run
from txcalc.model.model import Model
from txcalc.sources import description, huggingface

D_MODEL, BODY = 8, 2 * (4 * 8 * 8 + 3 * 8 * 16 + 2 * 8) + 10 * 8 + 8
BERT: dict[str, Any] = {
    "model_type": "bert", "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2,
    "num_attention_heads": 2, "vocab_size": 10, "max_position_embeddings": 6, "type_vocab_size": 2,
}  # fmt: skip
QWEN2_5_MATH_RM_72B = {
    "hidden_size": 8192, "num_hidden_layers": 80, "vocab_size": 152064,
    "intermediate_size": 29568, "num_attention_heads": 64, "num_key_value_heads": 8,
}  # fmt: skip
QWEN2_5_MATH_PRM_7B = {
    "hidden_size": 3584, "num_hidden_layers": 28, "vocab_size": 152064,
    "intermediate_size": 18944, "num_attention_heads": 28, "num_key_value_heads": 4,
}  # fmt: skip
INTERNLM2_7B = {
    "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 92544, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_key_value_heads": 8, "bias": False,
}  # fmt: skip
TOTAL = "params.total"


def model(config: dict[str, Any], class_: str) -> Model:
    text = json.dumps({**config, "architectures": [class_]}).encode()
    tree, _, _ = huggingface.describe(text, "config.json", name="it")
    return description.build(tree, "config.json")


@pytest.mark.parametrize(
    ("config", "class_", "causal", "head"),
    [
        (QWEN2_5_MATH_RM_72B, "Qwen2ForRewardModel", 72706203648, 8192 * 8193 + 8193),
        (QWEN2_5_MATH_PRM_7B, "Qwen2ForProcessRewardModel", 7615616512, 3584 * 3585 + 2 * 3585),
    ],
)
def test_a_reward_model_has_two_layers_in_place_of_the_head(
    config: dict[str, Any], class_: str, causal: int, head: int
) -> None:
    """vLLM 0.11.0, qwen2_rm.py: two linear layers with biases; published totals of Qwen2.5."""
    body = causal - config["vocab_size"] * config["hidden_size"]
    rewards = model({"model_type": "qwen2", **config}, class_)
    assert find(rewards, "params.total") == body + head
    assert find(rewards, "params.tensors") == head


def test_a_reward_model_of_internlm2_has_one_row_in_place_of_the_head() -> None:
    """internlm/internlm2-7b-reward, modeling_internlm2.py: v_head, without a bias."""
    rewards = model({"model_type": "internlm2", **INTERNLM2_7B}, "InternLM2ForRewardModel")
    body = find(model({"model_type": "internlm2", **INTERNLM2_7B}, "InternLM2ForCausalLM"), TOTAL)
    assert body == 7737708544
    assert find(rewards, TOTAL) == body - 92544 * 4096 + 4096


@pytest.mark.parametrize(
    ("labels", "n"),
    [({}, 2), ({"num_labels": 7}, 7), ({"id2label": {"0": "a", "1": "b", "2": "c"}}, 3)],
)
def test_labels_are_stated_or_two(labels: dict[str, Any], n: int) -> None:
    classifier = model({**GOOD, **labels}, "LlamaForSequenceClassification")
    assert find(classifier, "params.total") == BODY + n * D_MODEL
    tokens = model({**GOOD, **labels}, "LlamaForTokenClassification")
    assert find(tokens, "params.total") == BODY + n * (D_MODEL + 1)


@pytest.mark.parametrize(
    ("config", "class_", "elements", "each_token"),
    [
        (GOOD, "LlamaForSequenceClassification", 2 * 8, False),
        (GOOD, "LlamaForTokenClassification", 2 * 8, True),
        (BERT, "BertForSequenceClassification", 8 * 8 + 2 * 8, False),
        (BERT, "BertForMultipleChoice", 8 * 8 + 8, False),
        (BERT, "BertForQuestionAnswering", 2 * 8, True),
    ],
)
def test_a_head_multiplies_one_token_of_a_sequence_or_each(
    config: dict[str, Any], class_: str, elements: int, each_token: bool
) -> None:
    cost = find(model(config, class_), "flops.tensors", phase="prefill", ctx=5, batch=3)
    assert cost == 2 * elements * 3 * (5 if each_token else 1)


@pytest.mark.parametrize(
    ("type_", "class_"),
    [
        ("xlm", "XLMForQuestionAnswering"),
        ("perceiver", "PerceiverForSequenceClassification"),
        ("llama", "LlamaForMultipleChoice"),
        ("llama", "LlamaForRewardModel"),
        ("mistral", "LlamaForSequenceClassification"),
    ],
)
def test_a_head_that_is_not_known_is_refused_by_name(
    type_: str, class_: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**GOOD, "model_type": type_, "architectures": [class_]}))
    ran = run("get", path, "params.total")
    assert (ran.code, ran.out) == (2, "")
    assert class_ in ran.err or f"{type_!r}" in ran.err
