"""Help and completion: every command has examples that work, and words to choose from."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.test_process import started
from tests.support.checkpoints import llama_header, written
from tests.support.running import answer, run
from txcalc.cli.app import COMMANDS
from txcalc.cli.examples import EXAMPLES
from txcalc.workload.formats import NUMBERS

CONFIG = """{
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
    "vocab_size": 100, "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2,
    "num_key_value_heads": 2, "max_position_embeddings": 256, "tie_word_embeddings": false
}"""
CLAIM = "{id: a, model: gpt3, claim: params.total, value: 175B}"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_ends_with_three_examples(command: str) -> None:
    text = run(command, "--help").out
    shown = text.partition("\n  Examples:\n")[2].splitlines()
    assert shown == [f"    {line}" for line in EXAMPLES[command]]
    assert len(shown) == 3
    assert max(map(len, shown)) <= 90
    assert "Examples" not in run("--help").out


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_an_example_works(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.json").write_text(CONFIG)
    Path("claims.yaml").write_text(f"claims:\n- {CLAIM}\n")
    written(Path("model.safetensors"), llama_header(json.loads(CONFIG)))
    Path("docs").mkdir()
    for page in ("README.md", "docs/page.md"):
        Path(page).write_text("175B<!-- txcalc: gpt3 params.total -->\n")
    name, command, *words = shlex.split(line.partition(" > ")[0])
    if command == "plot":
        pytest.importorskip("matplotlib")
    ran = run(command, *words)
    assert (name, ran.code) == ("txcalc", 0), ran.err
    assert ran.out


def test_every_command_has_its_examples() -> None:
    assert set(EXAMPLES) == set(COMMANDS)
    assert all(line.startswith(f"txcalc {name}") for name, ls in EXAMPLES.items() for line in ls)


@pytest.mark.parametrize(
    "model", ["gpt3", "deepseek-v3", "bart-base", "roberta-base", "jamba-v0.1"]
)
def test_addresses_are_those_that_can_be_asked_for(model: str) -> None:
    listed = answer("addresses", model).splitlines()
    assert len(listed) == len(set(listed)) > 50
    on_device = ("--device", "h100-sxm", "--price", "2")
    needed: dict[str, tuple[object, ...]] = {
        "fit": ("--kv-memory", "1", "--engine", "vllm"),
        "roofline": on_device,
    }
    if model == "roberta-base":
        needed["flops"] = ("--phase", "prefill")
    for address in listed[::9]:
        ran = run("get", model, address, *needed.get(address.partition(".")[0], ()))
        assert (ran.code == 0 and float(ran.out) >= 0) or f"{address}: never: " in ran.err
    latent = [address for address in listed if "attention" in address]
    assert answer("addresses", model, "attention").splitlines() == latent


def test_addresses_without_any_are_refused() -> None:
    ran = run("addresses", "gpt3", "zork")
    assert (ran.code, ran.out) == (2, "")
    assert "gpt3 has no address with zork in it" in ran.err


def completed(line: str, shell: str = "bash") -> list[str]:
    """What a shell offers at the end of a line."""
    words = {"bash": "COMP_WORDS", "fish": "_TYPER_COMPLETE_ARGS"}[shell]
    asked = {"_TXCALC_COMPLETE": f"complete_{shell}", words: line}
    asked |= {"COMP_CWORD": str(len(line.split()) - 1 + line.endswith(" "))}
    asked |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    return started(**asked).stdout.decode("utf-8").split()


def test_completion_offers_formats_dimensions_and_axes() -> None:
    assert set(completed("txcalc kvcache gpt3 --kv ")) >= set(NUMBERS)
    assert completed("txcalc get gpt3 params.total --set n_l") == ["n_layers="]
    offered = completed("txcalc sweep gpt3 params.total --over ")
    assert {"ctx=", "batch=", "d_model=", "n_layers=", "model="} <= set(offered)
    assert completed("txcalc sweep params.total --over model=gpt3,gpt2-s") == [
        "model=gpt3,gpt2-small"
    ]
    assert not [word for word in offered if not re.fullmatch(r"\w+=", word)]


def test_completion_reads_no_standard_input_and_fetches_nothing() -> None:
    for model in ("-", "hf:meta-llama/Llama-3.1-8B", "tyo"):
        assert completed(f"txcalc get {model} par") == []


def test_devices_are_listed_by_parts_of_their_names() -> None:
    """NVIDIA's H100 data sheet: 3,350 GB/s and 450 GB/s of NVLink each way for the SXM module."""
    listed = json.loads(answer("devices", "h100", "--format", "json"))
    assert [device["name"] for device in listed] == ["h100-nvl", "h100-pcie", "h100-sxm"]
    assert (listed[2]["bandwidth_gbps"], listed[2]["links_gbps"]["nvlink"]) == (3350, 450)
    assert "79.18" in answer("devices", "sxm")
    ran = run("devices", "zork")
    assert (ran.code, ran.out) == (2, "")
    assert "no bundled device has zork in its name" in ran.err
