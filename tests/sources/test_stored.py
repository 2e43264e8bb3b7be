"""A quantization_config is said, and no format is made up; the files are published ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sources.test_bad_configs import GOOD, TOTAL
from tests.support.running import run
from txcalc.sources.stored import stored_as

FP8 = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}
INT4 = {"num_bits": 4, "type": "int", "group_size": 32, "strategy": "group"}
CASES: list[tuple[Any, str]] = [
    ({"quant_method": "awq", "bits": 4, "group_size": 128}, "AWQ, 4 bits, group size 128"),
    ({"quant_method": "gptq", "bits": 8, "group_size": -1}, "GPTQ, 8 bits"),
    (FP8, "fp8, e4m3, blocks of 128 x 128"),
    ({"quant_method": "mxfp4", "modules_to_not_convert": []}, "mxfp4"),
    (
        {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
        "bitsandbytes, 4 bits, nf4",
    ),
    (
        {
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "config_groups": {"group_0": {"weights": INT4}},
        },
        "compressed-tensors, 4 bits, pack-quantized, group size 32",
    ),
    ({"quant_method": "quark"}, "quark"),
    ({"bits": 10**400}, "a format without a name"),
    ({}, ""),
    (None, ""),
    ([1], ""),
]


@pytest.mark.parametrize(("config", "words"), CASES)
def test_a_stored_format_in_words(config: Any, words: str) -> None:
    assert stored_as(config) == words


def test_a_quantised_file_is_warned_of_wherever_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**GOOD, "quantization_config": FP8}))
    ran = run("get", path, "weights.bytes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, f"{2 * TOTAL}\n", 1)
    assert "fp8, e4m3" in ran.err
    text = GOOD | {"quantization_config": FP8}
    path.write_text(json.dumps({"model_type": "llava", "text_config": text}))
    ran = run("get", path, "weights.bytes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, f"{2 * TOTAL}\n", 1)
    assert "fp8, e4m3" in ran.err
