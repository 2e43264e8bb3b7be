"""What a config.json is taken for: its class where it names none, its type where two are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sources.test_bad_configs import GOOD, TOTAL
from tests.support.oracle import rows
from tests.support.running import Run, answer, get, run
from txcalc.sources import yaml


def measured(name: str, type_: str) -> dict[str, Any]:
    """The oracle's row of a type's default config."""
    [row] = [row for row in rows(name) if row["type"] == type_]
    return row


FLAGS = ("is_decoder", "is_encoder_decoder")
BERT, BERT_DECODER = measured("masked", "bert"), measured("types", "bert")
BART, BART_DECODER = measured("seq2seq", "bart"), measured("types", "bart")
WITHOUT_CLASS: dict[str, tuple[dict[str, Any], dict[str, Any], str, set[str]]] = {
    "bert": (BERT, {}, "masked", {"encoder"}),
    "bert is_decoder=false": (BERT, {"is_decoder": False}, "masked", {"encoder"}),
    "bert is_decoder": (BERT_DECODER, {"is_decoder": True}, "causal", {"layers"}),
    "bart": (BART, {}, "conditional", {"encoder", "layers"}),
    "bart is_encoder_decoder": (
        BART, {"is_encoder_decoder": True}, "conditional", {"encoder", "layers"},
    ),
    "bart is_encoder_decoder=false": (
        BART_DECODER, {"is_encoder_decoder": False}, "causal", {"layers"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WITHOUT_CLASS)
def test_the_flags_name_the_class_where_the_file_does_not(case: str, tmp_path: Path) -> None:
    """It is the class that the oracle measured: BertForMaskedLM, BertLMHeadModel and so on."""
    row, flags, word, stacks = WITHOUT_CLASS[case]
    own = {key: v for key, v in row["config"].items() if key not in ("architectures", *FLAGS)}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": row["type"], **own, **flags}))
    described = yaml.parse(answer("import", tmp_path), "import")
    assert {"encoder", "layers"} & described.keys() == stacks
    assert row["type"] in described["notes"][0]
    assert word in described["notes"][0]
    assert get(str(tmp_path), "params.total") == row["total"]


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_that_is_no_flag_is_refused_where_it_names_the_class(
    flag: str, tmp_path: Path
) -> None:
    config = {"model_type": "bert", **BERT["config"], flag: "yes"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    ran = run("import", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert f"config.json: {flag}: true or false" in ran.err


def test_a_type_that_contradicts_the_file_is_not_taken_and_warned_of(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(GOOD))
    ran = run("get", tmp_path, "params.total", "--type", "gpt2")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, f"{TOTAL}\n", 1)
    assert "warning" in ran.err
    assert "'llama'" in ran.err
    assert "--type gpt2" in ran.err
    assert run("get", tmp_path, "params.total", "--type", "llama") == (0, f"{TOTAL}\n", "")


def test_a_class_of_another_type_is_warned_of(tmp_path: Path) -> None:
    changed = GOOD | {"architectures": ["MistralForCausalLM"]}
    (tmp_path / "config.json").write_text(json.dumps(changed))
    ran = run("get", tmp_path, "params.total")
    assert (ran.code, ran.out) == (0, f"{TOTAL}\n")
    assert "'llama'" in ran.err
    assert "'MistralForCausalLM'" in ran.err


INTERNLM2_5_7B = {
    "architectures": ["InternLM2ForCausalLM"], "model_type": "internlm2", "hidden_size": 4096,
    "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 8, "vocab_size": 92544, "tie_word_embeddings": False,
}  # fmt: skip


def ask(config: dict[str, Any], folder: Path, *options: str) -> Run:
    (folder / "config.json").write_text(json.dumps(config))
    return run("get", folder, "params.total", *options)


def test_a_type_given_stands_in_for_one_that_is_not_known_with_a_warning(tmp_path: Path) -> None:
    """InternLM2.5-7B holds 7,737,708,544 parameters, and its layers are Llama's."""
    ran = ask(INTERNLM2_5_7B | {"model_type": "some_llama"}, tmp_path, "--type", "llama")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, "7737708544\n", 1)
    for word in ("warning", "'llama'", "'some_llama'", "'InternLM2ForCausalLM'"):
        assert word in ran.err


UNKNOWN = ("FooBarForCausalLM", "LlamaForCausalLMEagle3", "MedusaLlamaModel", "FooModel")


@pytest.mark.parametrize("class_", UNKNOWN)
def test_a_class_that_no_type_has_is_refused_unless_the_type_is_given(
    class_: str, tmp_path: Path
) -> None:
    config = GOOD | {"architectures": [class_], "num_experts": 16}
    ran = ask(config, tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert class_ in ran.err
    assert "--type llama" in ran.err
    ran = ask(config, tmp_path, "--type", "llama")
    assert ran.code == 0
    assert class_ in ran.err
    assert "num_experts" in ran.err
    assert "change no count" not in ran.err


def test_positions_that_a_type_does_not_have_are_named(tmp_path: Path) -> None:
    """Jina's BERT v2 biases scores by distance (arXiv:2310.19923), by a class of its own."""
    own = {"architectures": ["JinaBertForMaskedLM"], "position_embedding_type": "alibi"}
    config = {"model_type": "bert", **BERT["config"], **own}
    assert "JinaBertForMaskedLM" in ask(config, tmp_path).err
    assert "'alibi'" in ask(config, tmp_path, "--type", "bert").err


def test_a_type_given_that_is_not_known_is_refused(tmp_path: Path) -> None:
    ran = ask(GOOD, tmp_path, "--type", "lama")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean 'llama'" in ran.err


@pytest.mark.parametrize("type_", ["bailing_moe", "chatglm", "orion"])
def test_no_name_is_suggested_that_is_far_from_the_one_given(type_: str, tmp_path: Path) -> None:
    ran = ask(GOOD | {"model_type": type_, "architectures": ["Foo"]}, tmp_path)
    assert ran.code == 2
    assert "did you mean" not in ran.err


def test_the_folder_that_one_is_in_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("params", ".").err.startswith("txcalc: config.json: cannot be read")
    (tmp_path / "config.json").write_text(json.dumps(GOOD))
    assert get(".", "params.total") == TOTAL
