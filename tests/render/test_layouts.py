"""What stands on a sheet, and where."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.printed import in_table
from tests.support.running import BUNDLED, answer, named

VARIED = ("toy", "gpt3", "bart-base", "roberta-base", "transformer-base")
GENERATING = [name for name in VARIED if named(name).has_decoder]


def test_several_models_stand_side_by_side() -> None:
    text = answer("params", "toy", "gpt3", "gpt2-small")
    header = next(line for line in text.splitlines() if "gpt3" in line)
    assert header.split() == ["toy", "gpt3", "gpt2-small"]
    total = next(line for line in text.splitlines() if line.split()[:1] == ["total"])
    assert total.split()[1:] == ["329,600", "174,604,259,328", "124,439,808"]


def test_a_model_has_the_same_numbers_beside_others_and_alone() -> None:
    """What only the others have is a dash; rows stay in the order of each model's own table.

    Before them stands how the models' positions differ.
    """
    names = ("bart-base", "deepseek-v3", "jamba-v0.1", "toy")
    _, *table = in_table("params", *names)
    for i, name in enumerate(names, 1):
        alone = [cells[1] for cells in in_table("params", name) if len(cells) > 1]
        assert [cells[i] for cells in table if cells[i] != "-"] == alone


def test_models_are_listed_with_totals_and_sources() -> None:
    reports = json.loads(answer("models", "--format", "json"))
    assert [report["model"] for report in reports] == sorted(BUNDLED)
    assert all(report["source"] for report in reports)
    text = answer("models")
    for name in BUNDLED:
        assert re.search(rf"^ *{re.escape(name)} .*[0-9,]+$", text, re.MULTILINE)
    assert "174,604,259,328" in text


@pytest.mark.parametrize("name", GENERATING)
@pytest.mark.parametrize("command", ["params", "flops", "kvcache", "intensity", "concurrency"])
def test_a_table_states_assumptions_and_conventions(command: str, name: str) -> None:
    (report,) = json.loads(answer(command, name, "--format", "json"))
    flat = " ".join(answer(command, name).split())
    assert report["conventions"]
    for line in (*report["assumptions"], *report["conventions"]):
        assert " ".join(line.split()) in flat


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--phase", "decode", "--batch", "3"], ["phase decode", "batch 3"]),
        (["--ctx", "77"], ["ctx 77"]),
        (["--scores", "causal"], ["visible"]),
        (["--macs"], ["MAC"]),
        (["--phase", "prefill", "--logits", "last"], ["logits", "last"]),
        (["--phase", "train"], ["train"]),
    ],
)
def test_what_was_asked_is_what_is_said(options: list[str], said: list[str]) -> None:
    text = answer("flops", "gpt2-small", *options)
    for words in said:
        assert words in text


PARTS = ("attention", "ssm", "cross attention", "ffn", "norms", "projections", "scores")
TOPS = ("embedding", "blocks", "final norm", "head")


@pytest.mark.parametrize("name", ["gpt2-small", "deepseek-v3", "jamba-v0.1", "bart-base"])
@pytest.mark.parametrize("command", [("params",), ("flops", "--phase", "prefill")])
def test_shares_of_parts_add_up_to_that_of_their_whole(command: tuple[str, ...], name: str) -> None:
    """``(x N)`` is the share of all N, so that kinds of blocks are together all blocks."""
    of_block: dict[str, float] = {}
    parts: dict[str, float] = {}
    share: dict[str, float] = {}
    block = ""
    for label, *_, percent in in_table(command[0], name, *command[1:]):
        value = float(percent.removesuffix("%"))
        block = "" if label == "blocks" else label if label.startswith("block ") else block
        if label == block:
            of_block[block] = value
        elif not block:
            share[label] = value
        elif label in PARTS:
            parts[block] = parts.get(block, 0) + value
    assert share["total"] == 100
    assert sum(of_block.values()) == pytest.approx(share["blocks"], abs=0.2)
    assert sum(share.get(top, 0) for top in TOPS) == pytest.approx(100, abs=0.2)
    assert parts == pytest.approx(dict.fromkeys(of_block, 100), abs=0.2)


def test_what_is_counted_twice_stands_apart() -> None:
    """matmul and biases are no parts beside attention and FFN; a share is of the block."""
    rows = in_table("params", "gpt2-small")
    again = [cells for cells in rows if "matmul" in cells[0] or "biases" in cells[0]]
    assert [cells[0] for cells in again] == ["of which matmul", "of which biases"] * 3
    assert again[1][1:] == ["3,072", "0.0%"]
    assert "among" not in answer("params", "gpt2-small")


def test_side_by_side_a_block_keeps_its_heading_and_its_layers() -> None:
    table = in_table("params", "deepseek-v3", "gpt2-small", "gpt3")
    labels = [cells[0] for cells in table]
    assert "block dense (x 3)" in labels
    assert "block moe (x 58)" in labels
    at = labels.index("block (x N)")
    assert table[at] == ["block (x N)", "-", "7,087,872", "1,812,099,072"]
    assert table[at + 1] == ["N", "-", "12", "96"]
    alike = [cells[0] for cells in in_table("params", "gpt2-small", "gpt3-small")]
    assert "block (x 12)" in alike


def test_layers_of_a_cache_stand_below_their_block() -> None:
    """Gemma 3 4B has 34 layers, of which every sixth attends to all tokens."""
    labels = [cells[0] for cells in in_table("kvcache", "gemma-3-4b-text")]
    assert labels[:6] == [
        "block sliding (x 29)", "token", "sequence", "block full (x 5)", "token", "sequence",
    ]  # fmt: skip


def test_a_table_says_where_defaults_differ() -> None:
    rows = in_table("kvcache", "gpt3", "gemma-3-4b-text")
    assert rows[0] == ["ctx (the model's own)", "2,048", "131,072"]
    assert "ctx" not in answer("kvcache", "gpt3", "gemma-3-4b-text").partition("Assumed: ")[2][:20]
    rows = in_table("kvcache", "gpt3", "gemma-3-4b-text", "--ctx", "77")
    assert not any(cells[0].startswith("ctx") for cells in rows)
    assert "Assumed: ctx 77; cache fp16" in answer("kvcache", "gpt3", "toy", "--ctx", "77")


def test_positions_are_named_where_they_have_no_table() -> None:
    for command in ("params", "show"):
        assert "positions: rotary" in answer(command, "pythia-1b")
        assert "positions: learned" in answer(command, "gpt2-small")
        assert "positions: none" in answer(command, "mamba-130m")
        left_out = answer(command, "pythia-1b", "--set", "layers.positions=null")
        assert "positions: unstated" in left_out


def test_flops_have_one_unit_a_column_beside_their_digits() -> None:
    text = answer("flops", "gpt3", "--phase", "prefill")
    assert re.search(r"gpt3 +TFLOPs +share$", text, re.MULTILINE)
    for cells in in_table("flops", "gpt3", "--phase", "prefill"):
        _, digits, short, _ = cells
        assert short == f"{int(digits.replace(',', '')) / 10**12:.3f}"
    assert re.search(r"toy +MFLOPs +gpt3 +GFLOPs$", answer("flops", "toy", "gpt3"), re.MULTILINE)
    assert "GMACs" in answer("flops", "gpt3", "--macs")


def listed(*options: str) -> list[str]:
    lines = (re.match(r" +(\S+) .* [\d,]{5,}$", x) for x in answer("models", *options).splitlines())
    return [line[1] for line in lines if line]


def test_models_are_listed_in_an_order() -> None:
    reports = json.loads(answer("models", "--format", "json", "--sort", "params"))
    sizes = {report["model"]: report["rows"][0]["value"] for report in reports}
    assert list(sizes.values()) == sorted(sizes.values())
    assert listed("--sort", "params") == list(sizes)
    assert listed("--sort", "name") == sorted(sizes)
    assert listed("--sort", "kind") == listed()
    assert sorted(listed()) == sorted(sizes)


def test_the_verdict_stands_first() -> None:
    options = ("--device", "h100-sxm", "--ctx", "1024", "--requests", "2")
    first, verdict, *_ = filter(None, answer("fit", "gpt2-small", *options).splitlines())
    assert first == "gpt2-small: on h100-sxm, 1 GPU"
    assert verdict.startswith(" 2 requests of 1,024 tokens fit")
    both = answer("fit", "gpt2-small", "toy", *options)
    for name in ("gpt2-small", "toy"):
        assert both.partition(f"{name}: on h100-sxm")[2].startswith(
            ", 1 GPU\n\n 2 requests of 1,024 tokens fit"
        )
    assert "2 requests of 1,024 tokens fit" in answer(
        "fit", "toy", *options, "--format", "markdown"
    )


def test_the_bound_stands_beside_the_engine_with_the_reason() -> None:
    asked = ("--kv-memory", 4, "--ctx", 1000, "--engine", "vllm")
    lines = answer("fit", "llama-3.1-8b", *asked).splitlines()
    rows = [re.split(r" {2,}", line.strip()) for line in lines]
    cells = {row[0]: row[1:] for row in rows}
    # 4 GiB of 131,072 bytes a token: 32,768 tokens in 2,048 blocks of 16, of which one is null.
    assert cells["tokens in the cache"] == ["32,768", "32,768"]
    assert cells["blocks of 16"] == ["2,048"]
    longest = "whole blocks of 16; one block is null"
    assert cells["longest for 1 request"] == ["32,768", "32,752", longest]


def test_parts_stand_below_their_whole_wherever_they_were_listed() -> None:
    labels = [cells[0] for cells in in_table("memory", "gpt3")]
    at = labels.index("weights")
    assert labels[at + 1 : at + 5] == ["embedding", "attention", "ffn", "norms"]
