"""Wrong numbers that others' calculators gave in public, and the right ones; ids of the reports.

Each names the assumption that broke for somebody.  Figures of reports, recomputed from the configs
that they are about.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from txcalc.accounts import registry
from txcalc.sources import description, huggingface
from txcalc.sources.loading import load
from txcalc.workload.question import Question

GIB = 2**30


def get(model: Any, address: str, **options: Any) -> int | Fraction:
    return registry.report_of(address, model, Question(**options)).find(address).value


def test_d003_and_d004_heads_are_as_wide_as_the_file_says() -> None:
    """NVIDIA/Model-Optimizer#2482: d_model / n_heads was 160 or 45 where 128 and 64 are stated."""
    mistral = load("devstral-small")
    assert Fraction(5120, 32) / get(mistral, "dims.head_dim") == Fraction(5, 4)
    gpt_oss = load("gpt-oss-120b")
    assert Fraction(2880, 64) / get(gpt_oss, "dims.head_dim") == Fraction(703125, 1000000)


def test_d024_layers_of_linear_attention_have_no_keys() -> None:
    """unslothai/unsloth#4757: 16 of Qwen3.5-27B's 64 layers keep 16 GiB at 262,144, not 53.25."""
    model = load("qwen3.5-27b")
    kept = get(model, "kvcache.sequence", ctx=262144) - get(model, "kvcache.fixed")
    assert kept == 16 * GIB


def test_d031_one_latent_is_no_kv_head() -> None:
    """unslothai/unsloth#4757: DeepSeek-V3.1 keeps 10.72 GiB at 163,840 tokens, not 2.08."""
    cache = get(load("deepseek-v3"), "kvcache.sequence", ctx=163840)
    assert round(Fraction(cache, GIB), 4) == Fraction("10.7227")


def test_d033_latent_and_rotary_key_of_each_layer() -> None:
    """unslothai/unsloth#4757: 17.18 GiB of GLM-5 at 202,752 with the MTP layer, 16.97 without."""
    model = load("glm-5")
    states = next(iter(model.decoder_layers)).block.state(model.d_model)
    latent = states["attention.latent"].width.value + states["attention.rotary_key"].width.value
    per_layer = latent * 2 * 202752
    assert get(model, "dims.n_layers") == 78
    assert round(Fraction(79 * per_layer, GIB), 2) == Fraction("17.18")
    assert round(Fraction(78 * per_layer, GIB), 2) == Fraction("16.97")


def test_d034_expanded_keys_and_values_are_not_what_is_kept() -> None:
    """gpustack/gguf-parser-go#8: DeepSeek-V3 at 65,536 keeps a latent of 4.29 GiB, not 305."""
    cache = get(load("deepseek-v3"), "kvcache.sequence", ctx=65536)
    assert round(Fraction(cache, GIB), 2) == Fraction("4.29")


def test_d054_a_prediction_module_has_its_own_embedding_and_head() -> None:
    """vllm-project/vllm-ascend#2790: of DeepSeek-R1 they take 3.45 GiB in 16 bits."""
    model = load("deepseek-r1")
    assert model.mtp is not None
    own = [model.mtp.tensors[name].weight(name).stored.value for name in ("embedding", "head")]
    assert round(Fraction(2 * sum(own), GIB), 2) == Fraction("3.45")


def test_d061_a_shared_expert_has_a_width_of_its_own() -> None:
    """AI-Hypercomputer/maxtext#4017: Gemma-4-26B's is 3 times as wide as a routed one."""
    model = load("gemma4-26b-a4b")
    assert get(model, "dims.d_shared") == 3 * get(model, "dims.d_expert")
    assert round(Fraction(get(model, "params.active"), 10**9), 2) == Fraction("3.82")


def test_d096_full_and_window_layers_have_heads_of_their_own() -> None:
    """raullenchai/Rapid-MLX#1423: 8 full layers of Gemma-4-12B write 16,384 bytes a token."""
    config = b"""{"architectures": ["Gemma4UnifiedForCausalLM"],
        "model_type": "gemma4_unified_text", "hidden_size": 3840,
        "intermediate_size": 15360, "num_hidden_layers": 48,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
        "global_head_dim": 512, "num_global_key_value_heads": 1, "attention_k_eq_v": true,
        "sliding_window": 1024, "vocab_size": 262144, "max_position_embeddings": 131072}"""
    tree, _, _ = huggingface.describe(config, "config.json", name="gemma-4-12b")
    model = description.build(tree, "config.json")
    assert get(model, "kvcache.growth", ctx=131072) == 16384
    assert get(model, "kvcache.token") - 16384 == 40 * 2 * 8 * 256 * 2


def test_d103_the_latent_has_no_second_half_and_a_rotary_key() -> None:
    """LMCache/LMCache#694: DeepSeek-V3 writes 70,272 bytes a token, not 2 x 61 x 512 x 2."""
    assert get(load("deepseek-v3"), "kvcache.token") == 70272


@pytest.mark.parametrize(("part", "bytes_"), [("latent", 656), ("index", 132)])
def test_d105_the_indexer_keeps_keys_too(part: str, bytes_: int) -> None:
    """sgl-project/sglang#11309: 61 x (656 + 132) bytes a token of packed fp8 DeepSeek-V3.2.

    512 latent elements, 4 fp32 scales and 64 rotary ones in 16 bits; 128 keys and an fp32 scale.
    """
    model = load("deepseek-v3.2")
    widths = {
        name.partition(".")[2]: state.width.value
        for name, state in model.decoder_layers[0].block.state(model.d_model).items()
    }
    index = next(width for name, width in widths.items() if name.startswith("index"))
    packed = {"latent": widths["latent"] + 4 * 4 + 2 * widths["rotary_key"], "index": index + 4}
    assert packed[part] == bytes_
    assert sum(packed.values()) * get(model, "dims.n_layers") == 48068
