"""What accounts declare of themselves is true, and options that none of them reads are refused."""

from __future__ import annotations

from typing import Any

import pytest

import txcalc
from tests.support.running import report, run
from txcalc.accounts import registry
from txcalc.cli.app import ACCOUNTS
from txcalc.errors import OptionError, TxcalcError
from txcalc.sources.devices import load_device
from txcalc.workload.checkpoint import Checkpoint, StoredTensor
from txcalc.workload.question import Question

OTHER: dict[str, Any] = {
    "ctx": 77, "source": 33, "image": "448x448", "audio": "7", "batch": 3,
    "prompt": 7, "new": 9, "tokens": 5, "phase": "prefill",
    "scores": "causal", "logits": "last", "macs": True, "mla": "absorbed", "dtype": "fp32",
    "weights": "int8", "kv": "int4", "mtp": True, "tp": 2, "pp": 2, "dp": 2, "dcp": 2, "ep": True,
    "stages": "1,1", "engine": "vllm", "block_size": 64, "max_batched_tokens": 100, "ubatch": 100,
    "step_tokens": 3, "device": load_device("t4"), "count": 2, "requests": 3, "kv_memory": "5",
    "utilisation": "0.5", "overhead": "1",
    "checkpoint": Checkpoint(source="m", kind="safetensors", tensors=(StoredTensor("a", (2,)),)),
    "micro_batch": 3, "microbatches": 2, "train_tokens": 10**6, "gpus": 4, "compute": "fp32",
    "mfu": "0.25", "throughput": "100", "days": "3", "attention": "flash", "recompute": "full",
    "lora": "8", "flops_as": "6n", "recipe": "autocast", "dropout": "0.1", "logits_fp32": True,
    "norms": "upcast", "inventory": "megatron", "link": "pcie", "efficiency": "0.5", "mbu": "0.75",
    "price": "2",
}  # fmt: skip
"""Another value than the default of each option."""
MODELS = ("bart-base", "deepseek-v2-lite", "mixtral-8x7b", "jamba-v0.1", "gemma-2-9b",
          "deepseek-v3", "qwen2.5-vl-7b", "voxtral-mini-3b", "gpt2-small",
          "qwen2-1.5b")  # fmt: skip
LAYOUTS: tuple[dict[str, Any], ...] = (
    {}, {"tp": 4, "engine": "vllm"}, {"tp": 16}, {"engine": "llamacpp"},
)  # fmt: skip
BASES: dict[str, tuple[dict[str, Any], ...]] = {
    "flops": ({}, {"phase": "prefill"}),
    "memory": LAYOUTS,
    "trainmem": ({"ctx": 64}, {"ctx": 64, "attention": "flash"}, {"ctx": 64, "micro_batch": 2}),
    "train": (
        {"gpus": 8, "train_tokens": 10**9, "mfu": "0.4", "device": load_device("h100-sxm")},
        {
            "gpus": 8,
            "train_tokens": 10**9,
            "device": load_device("v100"),
            "throughput": "9",
            "compute": "fp16",
        },
        {"gpus": 8, "train_tokens": 10**9},
    ),
    "fit": (
        *({"kv_memory": "40", **layout} for layout in LAYOUTS),
        {"device": load_device("h100-sxm"), "tp": 16},
    ),
    "roofline": (
        {"device": load_device("h100-sxm")},
        {"device": load_device("h100-sxm"), "tp": 4},
        {"device": load_device("h100-sxm"), "batch": 16},
    ),
    "compare": (
        {"device": load_device("h100-sxm"), "tp": 4, "batch": 8},
        {"device": load_device("h100-sxm"), "dtype": "bf16"},
    ),
}
"""Questions from which each option is changed alone."""
NAMES = sorted({*registry.WITH_FIGURES, *ACCOUNTS})


def answers(account: str, name: str, **options: Any) -> object:
    try:
        made = report(account, txcalc.load(name), **options)
    except TxcalcError as error:
        return str(error)
    return made.figures, {address: [d.value for d in s] for address, s in made.shapes.items()}


def test_every_option_has_another_value() -> None:
    assert tuple(OTHER) == Question.__struct_fields__
    assert all(value != getattr(Question(), name) for name, value in OTHER.items())


@pytest.mark.parametrize("account", NAMES)
def test_an_account_is_moved_by_what_it_reads_and_by_nothing_else(account: str) -> None:
    """In one of some models and questions each option that is read changes a figure.

    Four models at least are asked for what moves them though it is not read.
    """
    reads = set(registry.declared(account).reads)
    moving: set[str] = set()
    for n_asked, name in enumerate(MODELS):
        if reads <= moving and n_asked > 3:
            break
        for i, base in enumerate(BASES.get(account, ({},))):
            asked = {"ctx": 9000, **base}
            before = answers(account, name, **asked)
            for option in (set(OTHER) if i == 0 else reads) - moving:
                if answers(account, name, **{**asked, option: OTHER[option]}) != before:
                    moving.add(option)
    assert moving - {"source"} <= reads
    assert reads <= moving


@pytest.mark.parametrize("address", ["params.total", "weights.bytes", "dims.n_layers"])
def test_figures_without_a_length_read_none(address: str) -> None:
    for option in ("ctx", "batch"):
        ran = run("get", "gpt3", address, f"--{option}", 3)
        assert (ran.code, ran.out) == (2, "")
        assert (
            f"--{option} changes nothing here: {address.split('.', maxsplit=1)[0]} reads" in ran.err
        )


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("get gpt3 params.total --batch 3 --kv fp8", "--batch"),
        ("get deepseek-v2-lite kvcache.token --mla expanded", "--mla"),
        ("explain gpt3 kvcache.sequence --weights int4", "--weights"),
        ("sweep gpt3 weights.bytes --kv fp8 --over n_layers=1:3", "--kv"),
        ("sweep gpt3 params.total --over batch=1:3", "--over batch"),
    ],
)
def test_commands_about_a_figure_refuse_what_its_account_does_not_read(
    command: str, refused: str
) -> None:
    ran = run(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert f"{refused} changes nothing here" in ran.err


def test_an_account_that_reads_an_option_takes_it_for_every_figure() -> None:
    """The FFN's products are those of one token at any length."""
    figures = {run("get", "gpt3", "flops.block.ffn", "--ctx", ctx).out for ctx in (1, 2048)}
    assert len(figures) == 1


def test_among_several_addresses_one_reader_is_enough() -> None:
    both = ["params.total", "flops.total"]
    assert run("sweep", "gpt3", *both, "--over", "ctx=1,2").code == 0
    assert run("sweep", "gpt3", *both, "--kv", "fp8", "--over", "ctx=1,2").code == 2


def test_the_library_refuses_them_alike() -> None:
    with pytest.raises(OptionError, match="batch changes nothing here: params reads no option"):
        txcalc.get("gpt3", "params.total", batch=3)
    with pytest.raises(OptionError, match="mla changes nothing here: kvcache reads"):
        txcalc.kvcache("deepseek-v2-lite", mla="expanded")
    with pytest.raises(OptionError, match="ctx changes nothing here"):
        txcalc.function("gpt3", "params.total", "ctx")


def test_a_claim_with_an_option_that_nothing_reads_is_unreadable(tmp_path: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "175B <!-- txcalc: gpt3 params.total kv=fp8 batch=9 -->\n\n"
        "2 <!-- txcalc: gpt3 flops.block.ffn / params.block.ffn.matmul ctx=9 -->\n"
    )
    ran = run("check", page)
    assert ran.code == 2
    assert "kv changes nothing here: params reads no option" in " ".join(ran.err.split())
    assert "1 cannot be read" in ran.out
