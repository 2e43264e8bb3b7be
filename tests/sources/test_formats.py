"""Configs in other formats than Hugging Face's.

Facts: the counts of the published checkpoints that the same sizes stand for in config.json files
(tests/oracle/models.jsonl, arXiv:2407.21783, arXiv:2412.19437), and nanoGPT's own print.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.running import find
from txcalc.errors import DescriptionError, RefusedError
from txcalc.model.model import Model
from txcalc.sources import description, huggingface

LLAMA_3_8B = {
    "dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "vocab_size": 128256,
    "multiple_of": 1024, "ffn_dim_multiplier": 1.3, "norm_eps": 1e-05, "rope_theta": 500000.0,
}  # fmt: skip
LLAMA_2_7B = {
    "dim": 4096, "multiple_of": 256, "n_heads": 32, "n_layers": 32, "norm_eps": 1e-05,
    "vocab_size": 32000,
}  # fmt: skip
MISTRAL_7B = {
    "dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32,
    "n_kv_heads": 8, "norm_eps": 1e-05, "vocab_size": 32000,
}  # fmt: skip
MIXTRAL = MISTRAL_7B | {"moe": {"num_experts_per_tok": 2, "num_experts": 8}}
DEEPSEEK_V3 = {
    "vocab_size": 129280, "dim": 7168, "inter_dim": 18432, "moe_inter_dim": 2048, "n_layers": 61,
    "n_dense_layers": 3, "n_heads": 128, "n_routed_experts": 256, "n_shared_experts": 1,
    "n_activated_experts": 8, "n_expert_groups": 8, "n_limited_groups": 4, "route_scale": 2.5,
    "score_func": "sigmoid", "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "dtype": "fp8",
}  # fmt: skip
DEEPSEEK_V2_LITE = {
    "vocab_size": 102400, "dim": 2048, "inter_dim": 10944, "moe_inter_dim": 1408, "n_layers": 27,
    "n_dense_layers": 1, "n_heads": 16, "n_routed_experts": 64, "n_shared_experts": 2,
    "n_activated_experts": 6, "route_scale": 1.0, "q_lora_rank": 0, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "mscale": 0.707,
}  # fmt: skip
MAMBA_130M = {
    "d_model": 768, "n_layer": 24, "vocab_size": 50277, "ssm_cfg": {}, "rms_norm": True,
    "residual_in_fp32": True, "fused_add_norm": True, "pad_vocab_size_multiple": 8,
}  # fmt: skip
MAMBA_2_130M = MAMBA_130M | {
    "d_intermediate": 0, "ssm_cfg": {"layer": "Mamba2"}, "attn_layer_idx": [], "attn_cfg": {},
    "pad_vocab_size_multiple": 16, "tie_embeddings": True,
}  # fmt: skip
NANOGPT = {
    "n_layer": 12, "n_head": 12, "n_embd": 768, "block_size": 1024, "bias": True,
    "vocab_size": 50257, "dropout": 0.0,
}  # fmt: skip


def model(config: dict[str, Any], **keys: Any) -> Model:
    text = json.dumps(config | keys).encode()
    tree, _, warnings = huggingface.describe(text, "params.json", name="foreign")
    assert not warnings
    return description.build(tree, "tree")


@pytest.mark.parametrize(
    ("config", "total"),
    [
        (LLAMA_3_8B, 8_030_261_248),
        (LLAMA_2_7B, 6_738_415_616),
        (MISTRAL_7B, 7_241_732_096),
        (MIXTRAL, 46_702_792_704),
        (DEEPSEEK_V3, 671_026_404_352),
        (DEEPSEEK_V2_LITE, 15_706_484_224),
        (MAMBA_130M, 129_135_360),
        (MAMBA_2_130M, 128_989_632),
        (NANOGPT, 124_439_808),
    ],
)
def test_the_same_model_as_in_a_config_json(config: dict[str, Any], total: int) -> None:
    assert find(model(config), "params.total") == total


def test_nanogpt_without_biases_prints_123_59_million_beside_its_positions() -> None:
    """``train.py`` with its defaults: number of parameters: 123.59M, positions left out."""
    unbiased = model(NANOGPT, bias=False, vocab_size=50304)
    counted = find(unbiased, "params.total") - find(unbiased, "params.embedding.positions")
    assert round(counted / 10**6, 2) == 123.59


def test_a_window_is_one_only_where_mistral_states_it() -> None:
    cache = {"ctx": 8192, "dtype": "bf16"}
    windowed, full = (
        find(model(MISTRAL_7B, **keys), "kvcache.total", **cache)
        for keys in ({"sliding_window": 4096}, {})
    )
    assert full == 2 * windowed


def test_errors_and_legends_have_the_words_of_the_file() -> None:
    with pytest.raises(DescriptionError, match=r"params\.json: n_heads: a whole number"):
        model(LLAMA_3_8B, n_heads="32")
    with pytest.raises(DescriptionError, match="vocab_size: -1"):
        model(LLAMA_3_8B, vocab_size=-1)
    assert model(LLAMA_3_8B).d_model.origin == "dim"


@pytest.mark.parametrize(
    ("config", "keys", "words"),
    [
        (MISTRAL_7B, {"vision_encoder": {"hidden_size": 1024}}, "vision_encoder"),
        (MAMBA_130M, {"attn_layer_idx": [9]}, "attn_layer_idx"),
        (MAMBA_130M, {"rms_norm": False}, "LayerNorm"),
    ],
)
def test_what_a_format_may_hold_beyond_is_refused(
    config: dict[str, Any], keys: dict[str, Any], words: str
) -> None:
    with pytest.raises(RefusedError, match=words):
        model(config, **keys)
