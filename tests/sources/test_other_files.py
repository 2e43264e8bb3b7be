"""Files beside a config.json: each is named, with the file that is wanted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import run

OTHERS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "adapter_config": (
        {"peft_type": "LORA", "base_model_name_or_path": "mistralai/Mistral-7B-v0.1", "r": 8},
        ("adapter", "LORA", "mistralai/Mistral-7B-v0.1"),
    ),
    "tokenizer_config": ({"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>"}, ("tokenizer",)),
    "generation_config": (
        {"bos_token_id": 1, "eos_token_id": 2, "transformers_version": "4.40.0"}, ("generation",),
    ),
    "quantize_config": ({"bits": 4, "group_size": 128, "desc_act": False}, ("quantisation",)),
    "hf_quant_config": (
        {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}},
        ("quantisation",),
    ),
    "model_index": (
        {"_class_name": "FluxPipeline", "_diffusers_version": "0.30.0"}, ("diffusers",),
    ),
    "model_index of old": ({"_class_name": "FluxPipeline", "vae": ["diffusers"]}, ("diffusers",)),
    "model.safetensors.index": ({"metadata": {"total_size": 8}, "weight_map": {}}, ("index",)),
    "preprocessor_config": ({"image_processor_type": "ViTImageProcessor"}, ("images",)),
    "gguf-dump": (
        {"filename": "m.gguf", "metadata": {"general.architecture": {}}, "tensors": {}}, ("GGUF",),
    ),
}  # fmt: skip
BINARIES = {
    "m.safetensors": (b"\x40\x00\x00\x00\x00\x00\x00\x00" + b'{"a": {}}', "safetensors"),
    "pytorch_model.bin": (b"PK\x03\x04", "PyTorch"),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("options", [(), ("--type", "llama")])
def test_another_file_is_named(name: str, options: tuple[str, ...], tmp_path: Path) -> None:
    tree, words = OTHERS[name]
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(tree))
    ran = run("params", path, *options)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert all(word in ran.err for word in (*words, "config.json", "wanted"))


@pytest.mark.parametrize("name", BINARIES)
@pytest.mark.parametrize("more", [0, 5_000_000])
def test_a_checkpoint_is_named(name: str, more: int, tmp_path: Path) -> None:
    start, word = BINARIES[name]
    (tmp_path / name).write_bytes(start + b"\0" * more)
    ran = run("params", tmp_path / name)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert word in ran.err
    assert "config.json" in ran.err
