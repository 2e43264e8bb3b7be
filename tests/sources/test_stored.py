"""The quantization_config of real config files as the format that ``--weights own`` takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.running import find, get, load, named, refusal_of, report, run, save
from txcalc.errors import RefusedError
from txcalc.sources.readers.stored import stored_format, stored_of

KIMI_LEFT_OUT = [
    "lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
    "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
]  # fmt: skip


def fp8(**more: Any) -> dict[str, Any]:
    return {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", **more}


def compressed(weights: dict[str, Any], **more: Any) -> dict[str, Any]:
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    return {"quant_method": "compressed-tensors", "config_groups": groups, **more}


def bits4(method: str, group: int = 128, **more: Any) -> dict[str, Any]:
    return {"quant_method": method, "bits": 4, "group_size": group, **more}


CHANNELS = {"num_bits": 8, "strategy": "channel", "symmetric": True}
GROUPS = {"num_bits": 4, "type": "int", "strategy": "group", "symmetric": True}


@pytest.mark.parametrize(
    ("config", "stored"),
    [
        # huggingface.co/deepseek-ai/DeepSeek-V3, MiniMaxAI/MiniMax-M2.5: config.json.
        (fp8(weight_block_size=[128, 128]), "fp8-128x128"),
        (
            fp8(
                weight_block_size=[128, 128],
                modules_to_not_convert=["gate", "e_score_correction_bias", "lm_head"],
            ),
            "fp8-128x128",
        ),
        # huggingface.co/Qwen/Qwen3-30B-A3B-FP8: norms and routers, layer by layer.
        (
            fp8(
                weight_block_size=[128, 128],
                modules_to_not_convert=["lm_head", "model.layers.0.input_layernorm",
                                        "model.layers.0.mlp.gate", "model.layers.7.mlp.gate"],
            ),
            "fp8-128x128",
        ),
        (fp8(activation_scheme="static", ignored_layers=["lm_head"]), "fp8-tensor"),
        # huggingface.co/openai/gpt-oss-120b: config.json.
        (
            {
                "quant_method": "mxfp4",
                "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router",
                                           "model.embed_tokens", "lm_head"],
            },
            "mxfp4",
        ),
        # huggingface.co/TheBloke/TinyLlama-1.1B-Chat-v1.0-AWQ and -GPTQ: config.json.
        (bits4("awq", zero_point=True, version="gemm"), "awq-g128"),
        (bits4("gptq", 32, desc_act=True, sym=True), "gptq-g32"),
        # huggingface.co/docs/transformers/quantization/bitsandbytes.
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bnb-int8"),
        (
            {
                "quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False,
                "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True,
                "llm_int8_skip_modules": None,
            },
            "bnb-nf4-dq",
        ),
        # github.com/vllm-project/compressed-tensors; moonshotai/Kimi-K2-Thinking: config.json.
        (compressed({**CHANNELS, "type": "float"}, ignore=["lm_head"]), "fp8-channel"),
        (compressed({**CHANNELS, "type": "int"}), "int8-channel"),
        (compressed({**GROUPS, "group_size": 128}, ignore=["lm_head"]), "int4-g128"),
        (
            compressed({**GROUPS, "group_size": 32}, ignore=KIMI_LEFT_OUT),
            "int4-g32,attention=bf16,shared=bf16,ffn=bf16",
        ),
        (
            compressed({"num_bits": 4, "type": "float", "strategy": "tensor_group",
                        "group_size": 16, "symmetric": True}),
            "nvfp4",
        ),
    ],
)  # fmt: skip
def test_how_a_checkpoint_is_stored(config: dict[str, Any], stored: str) -> None:
    assert stored_format(config, "bfloat16") == stored
    model = {"torch_dtype": "bfloat16", "quantization_config": config}
    assert stored_of(model, "config.json") == ({"stored": stored}, [])
    assert stored_of({"text_config": model}, "config.json")[0] == {"stored": stored}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"quant_method": "exl2", "bits": 4.0}, "quant_method 'exl2' is not known"),
        ({"bits": 4}, "quant_method None is not known"),
        ("fp8", "is no table of settings"),
        (fp8(weight_block_size=[64, 64]), "weight_block_size [64, 64] is not known"),
        (fp8(modules_to_not_convert=["model.layers.0.mlp.down_proj"]), "one by one"),
        (fp8(modules_to_not_convert=["wise"]), "a module of unknown role is left out: 'wise'"),
        (fp8(modules_to_not_convert="lm_head"), "modules left out lm_head"),
        (bits4("gptq") | {"bits": 8}, "bits 8 is not known"),
        (bits4("gptq", -1), "group_size -1 is not known"),
        (bits4("awq", version="marlin"), "version marlin is not known"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bnb_4bit_quant_type fp4"),
        ({"quant_method": "bitsandbytes"}, "neither load_in_8bit nor load_in_4bit"),
        (compressed({**GROUPS, "group_size": 32, "symmetric": False}), "weights {"),
        ({"quant_method": "compressed-tensors", "config_groups": {}}, "config_groups {}"),
        ({"quant_method": "mxfp4", "modules_to_not_convert": ["mlp.experts"]}, "experts"),
    ],
)
def test_what_is_not_known_is_refused_by_name(config: Any, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        stored_format(config, "bfloat16")
    assert said in str(refused.value)
    fields, warnings = stored_of({"quantization_config": config}, "config.json")
    assert fields == {}
    assert said in warnings[0]


def test_roles_left_out_are_in_a_dtype_that_is_stated() -> None:
    with pytest.raises(RefusedError, match="torch_dtype '' is not known"):
        stored_format(fp8(modules_to_not_convert=["self_attn"]))


CONFIG = {
    "model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 22,
    "num_attention_heads": 32, "num_key_value_heads": 4, "intermediate_size": 5632,
    "vocab_size": 32000, "torch_dtype": "float16",
}  # fmt: skip


def config(**quantization: Any) -> str:
    return save(CONFIG | {"quantization_config": quantization}, "config.json")


def test_own_weights_are_as_the_checkpoint_has_them() -> None:
    path = config(quant_method="awq", bits=4, group_size=128, zero_point=True, version="gemm")
    own = get(path, "weights.bytes", "--weights", "own")
    assert own == get(path, "weights.bytes", "--weights", "awq-g128")
    norms = get(path, "weights.bytes", "--weights", "own,norms=fp32")
    assert norms - own == 2 * (2 * 22 + 1) * 2048
    ran = run("get", path, "weights.bytes")
    assert ran.out == f"{2 * get(path, 'params.total')}\n"
    assert "is stored as awq-g128: its weights are counted in fp16, not as --weights own" in ran.err
    assert run("get", path, "weights.bytes", "--weights", "fp16").err == ""
    assert run("get", path, "params.total").err == ""


def test_an_unknown_format_is_named_and_not_taken_for_another() -> None:
    path = config(quant_method="exl2", bits=4.0)
    ran = run("get", path, "weights.bytes", "--weights", "own")
    assert ran.code == 2
    assert "quant_method 'exl2' is not known" in run("get", path, "params.total").err


def test_a_description_may_state_it() -> None:
    tree = {
        "name": "held", "source": "made up", "d_model": 256, "vocab": 64,
        "blocks": {"decoder": {"norm": "rms", "attention": {"kind": "mha", "n_heads": 2}}},
        "layers": {"count": 1, "pattern": ["decoder"]}, "stored": "fp8-channel,experts=nvfp4",
    }  # fmt: skip
    model = load(tree)
    own = find(model, "weights.bytes", weights="own")
    assert own == find(model, "weights.bytes", weights="fp8-channel")
    [line] = report("weights", model, weights="own").assumptions
    assert line == "weights own (fp8-channel,experts=nvfp4), the rest fp16"
    assert "stored: --weights fp9: unknown number format" in refusal_of(
        lambda: load(tree | {"stored": "fp9"})
    )
    assert "states no format that it is stored in" in refusal_of(
        lambda: find(named("gpt2-small"), "weights.bytes", weights="own")
    )
