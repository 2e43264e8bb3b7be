"""Files that are no config.json, or none that can be counted: one clear error each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import run

GOOD: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8,
    "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 10,
}  # fmt: skip
TOTAL = 2 * (4 * 8 * 8 + 3 * 8 * 16 + 2 * 8) + 2 * 10 * 8 + 8


def text(**changed: Any) -> str:
    return json.dumps({**GOOD, **changed})


def without(key: str) -> str:
    return json.dumps({name: value for name, value in GOOD.items() if name != key})


def ask(written: str | bytes, folder: Path, *options: str) -> tuple[int, str, str]:
    path = folder / "config.json"
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    return run("get", str(path), "params.total", *options)


BAD = {
    "empty": ("", "JSON"),
    "truncated": (text()[:-9], "JSON"),
    "not an object": ("[1, 2]", "an object is needed"),
    "a word": ('"llama"', "an object is needed"),
    "not UTF-8": (b'{"model_type": "\xff"}', "UTF-8"),
    "nested deep": ("[" * 100_000, "deep"),
    "nested deep in a key": ('{"a": ' * 50_000 + "1" + "}" * 50_000, "deep"),
    "a key twice": (text()[:-1] + ', "vocab_size": 11}', "'vocab_size' stands twice"),
    "NaN": (text(hidden_size=float("nan")), "hidden_size"),
    "Infinity": (text(vocab_size=float("inf")), "vocab_size"),
    "a string": (text(hidden_size="8"), "hidden_size"),
    "a broken number": (text(hidden_size=4096.5), "hidden_size"),
    "zero": (text(num_attention_heads=0), "num_attention_heads"),
    "negative": (text(intermediate_size=-16), "intermediate_size"),
    "true": (text(vocab_size=True), "vocab_size"),
    "too large": (text(vocab_size=10**16), "vocab_size"),
    "400 digits": (text(vocab_size=10**400), "vocab_size"),
    "4000 digits": (text(num_attention_heads=10**4000), "num_attention_heads"),
    "an object 400 deep": (
        '{"model_type": "llava", "hidden_size": 8, "text_config": ' * 400 + "1" + "}" * 400,
        "nested deeper",
    ),
    "null": (text(vocab_size=None), "vocab_size"),
    "a list": (text(vocab_size=[10]), "vocab_size"),
    "missing": (without("hidden_size"), "hidden_size"),
    "unknown type": (text(model_type="lama"), "'lama'; did you mean 'llama'"),
    "type is no word": (text(model_type=3), "model_type"),
    "unknown class": (text(architectures=["LlamaForImageEditing"]), "LlamaForImageEditing"),
    "neither type nor class": ('{"hidden_size": 8}', "--type"),
    "too few layers listed": (
        text(model_type="qwen3", layer_types=["full_attention"]), "1 entries for 2 layers",
    ),
    "too few layers listed where the type reads no list": (
        text(layer_types=["full_attention"]), "1 entries for 2 layers",
    ),
    "configs of single layers": (text(per_layer_config={"0": {"hidden_size": 4}}), "per_layer"),
    "an unknown layer": (
        text(model_type="qwen3", layer_types=["full_attention", "half_attention"]),
        "half_attention",
    ),
    "two names of one size": (
        json.dumps({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 8,
                    "hidden_size": 16, "n_layer": 2, "n_head": 2, "vocab_size": 10,
                    "n_positions": 4}), "contradict",
    ),
    "two names of one list": (
        json.dumps({"model_type": "recurrent_gemma", "architectures": ["RecurrentGemmaForCausalLM"],
                    "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2,
                    "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 10,
                    "block_types": ["recurrent"], "_block_types": ["attention"]}), "contradict",
    ),
    "50 MB": (text()[:-1] + "," + " " * 50_000_000 + "}", "longer than"),
}  # fmt: skip


@pytest.mark.parametrize(("written", "said"), BAD.values(), ids=BAD)
def test_one_clear_error(written: str | bytes, said: str, tmp_path: Path) -> None:
    code, out, err = ask(written, tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert "config.json" in err


def test_a_whole_number_may_be_written_as_a_float(tmp_path: Path) -> None:
    assert ask(text(hidden_size=8.0), tmp_path) == (0, f"{TOTAL}\n", "")


def test_a_key_may_stand_twice_with_one_value(tmp_path: Path) -> None:
    assert ask(text()[:-1] + ', "vocab_size": 10}', tmp_path) == (0, f"{TOTAL}\n", "")
    for other in ("10.0", "true", "null"):
        code, out, err = ask(text()[:-1] + f', "vocab_size": {other}}}', tmp_path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "'vocab_size' stands twice" in err


def test_a_warning_names_no_more_keys_than_a_reader_wants(tmp_path: Path) -> None:
    code, _, err = ask(text(**{f"magic{i}": i for i in range(9000)}), tmp_path)
    assert code == 0
    assert len(err) < 2000
    assert "more" in err


@pytest.mark.parametrize("nothing", [{}, None])
def test_no_config_of_a_single_layer_is_none(nothing: object, tmp_path: Path) -> None:
    assert ask(text(per_layer_config=nothing), tmp_path)[:2] == (0, f"{TOTAL}\n")


def test_code_of_the_repository_is_no_reason_to_refuse_a_known_type(tmp_path: Path) -> None:
    changed = text(auto_map={"AutoConfig": "configuration_llama.LlamaConfig"})
    assert ask(changed, tmp_path)[:2] == (0, f"{TOTAL}\n")


def test_keys_that_nothing_reads_are_one_warning_or_with_strict_an_error(tmp_path: Path) -> None:
    code, out, err = ask(text(magic=1, more_magic=2), tmp_path)
    assert (code, out, err.count("\n")) == (0, f"{TOTAL}\n", 1)
    assert "magic, more_magic" in err
    code, out, err = ask(text(magic=1), tmp_path, "--strict")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "magic" in err


def test_the_class_names_the_type_and_type_helps_where_both_are_missing(tmp_path: Path) -> None:
    assert ask(without("model_type"), tmp_path)[:2] == (0, f"{TOTAL}\n")
    neither = json.dumps(
        {k: v for k, v in GOOD.items() if k not in ("model_type", "architectures")}
    )
    assert ask(neither, tmp_path)[0] == 2
    assert ask(neither, tmp_path, "--type", "llama")[:2] == (0, f"{TOTAL}\n")


def test_a_folder_is_its_config(tmp_path: Path) -> None:
    ask(text(), tmp_path)
    assert run("get", str(tmp_path), "params.total")[:2] == (0, f"{TOTAL}\n")
    code, out, err = run("get", str(tmp_path / "none"), "params.total")
    assert (code, out, err.count("\n")) == (2, "", 1)
