"""The contract of addresses: every figure has a name, the same for every model."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.support.counting import Tree
from tests.support.describing import descriptions
from tests.support.running import (
    BUNDLED,
    MODELS,
    data,
    find,
    get,
    load,
    named,
    refusal_of,
    report,
    run,
)
from txcalc.model.model import Model

HELD = ("matmul", "biases")
PARAMS = ("total", "active", "buffers", "blocks", "final_norm", "head", "embedding",
          "embedding.tokens", "embedding.positions")  # fmt: skip
PARAMS_BLOCK = (
    "", ".attention", ".cross_attention", ".ffn", ".norms", ".matmul", ".biases",
    *(f".{part}.{held}" for part in ("attention", "ffn") for held in HELD),
)  # fmt: skip
FLOPS_BLOCK = ("", ".projections", ".scores", ".attention", ".cross_attention", ".ffn", ".matmul")
GENERATION = (
    *(f"{what}.{way}" for what in ("tokens", "flops") for way in ("naive", "cached", "ratio")),
    "with_prefill.tokens.ratio",
)
EVERYWHERE = (
    *(f"params.{name}" for name in PARAMS),
    *(f"params.block.NAME{part}" for part in PARAMS_BLOCK),
    *(f"flops.{name}" for name in ("total", "blocks", "head")),
    *(f"flops.block.NAME{part}" for part in FLOPS_BLOCK),
    "weights.bytes",
    "dims.d_model",
    "dims.vocab",
)
STEPPING = (
    *(f"kvcache.{n}" for n in ("token", "growth", "fixed", "cross", "sequence", "total")),
    *(f"generation.{name}" for name in GENERATION),
    "concurrency.ratio",
    "concurrency.crossover",
    "intensity.decode",
    "intensity.all.decode",
)
PREFILLED = ("intensity.prefill", "intensity.all.prefill")


def addresses(model: Model, pattern: str) -> list[str]:
    """An address for each of the model's blocks."""
    if "NAME" not in pattern:
        return [pattern]
    return [pattern.replace("NAME", name) for name in model.blocks]


@given(descriptions())
def test_every_contract_address_exists_for_every_model(tree: Tree) -> None:
    model = load(tree)
    phase = "token" if model.has_decoder else "prefill"
    for pattern in EVERYWHERE:
        for address in addresses(model, pattern):
            assert find(model, address, ctx=7, phase=phase) >= 0
    for address in (*STEPPING, *PREFILLED):
        if refusal := refusal_of(lambda address=address: find(model, address, ctx=7, prompt=3)):
            nothing = "no product" in refusal or "no token adds" in refusal
            assert nothing or not model.has_decoder
        else:
            assert find(model, address, ctx=7, prompt=3) >= 0


@given(descriptions("decoder", "encoder"))
def test_a_single_stack_has_no_rows_by_stack(tree: Tree) -> None:
    figures = report("params", load(tree)).figures
    beside = [name for name in figures if not name.startswith("params.block.")]
    assert "params.embedding.positions" in beside
    assert [name for name in beside if name.endswith((".encoder", ".decoder"))] == []


@given(descriptions("both"))
def test_rows_beside_the_blocks_of_two_stacks_say_whose_they_are(tree: Tree) -> None:
    figures = report("params", load(tree)).figures
    for stack, field in (("encoder", "encoder"), ("decoder", "layers")):
        learned = tree[field].get("positions", {}).get("kind") in ("learned", "relative")
        assert (f"params.embedding.positions.{stack}" in figures) == learned


@given(descriptions())
def test_block_alone_answers_for_kinds_that_agree(tree: Tree) -> None:
    model = load(tree)
    for part in PARAMS_BLOCK:
        address = f"params.block{part}"
        named_ones = [f"params.block.{name}{part}" for name in model.blocks]
        if refusal := refusal_of(lambda address=address: find(model, address)):
            assert len(model.blocks) > 1
            assert all(candidate in refusal for candidate in named_ones)
        else:
            agreed = find(model, address)
            assert {find(model, candidate) for candidate in named_ones} == {agreed}


@pytest.mark.parametrize("name", MODELS)
def test_every_letter_of_a_bundled_model_has_an_address(name: str) -> None:
    model = named(name)
    for path, letter in model.dims.items():
        assert find(model, f"dims.{path}") == letter.value
        assert find(model, f"dims.{letter.name}") == letter.value


def test_letters_read_and_derived() -> None:
    stated = {"d_model": 768, "n_heads": 12, "head_dim": 64, "d_ff": 3072, "n_layers": 12,
              "vocab": 50257, "context": 1024, "n_positions": 1024}  # fmt: skip
    assert {name: get("gpt2-small", f"dims.{name}") for name in stated} == stated
    wide = get("gpt2-small", "dims.head_dim", "--set", "d_model=1536")
    assert wide == 128


@pytest.mark.parametrize("name", MODELS)
def test_every_row_that_a_command_lists_can_be_asked_for(name: str) -> None:
    model = named(name)
    phase = [] if model.has_decoder else ["--phase", "prefill"]
    commands = [["params"], ["flops", *phase], ["intensity"]]
    if model.has_decoder:
        commands += [["kvcache"], ["concurrency"], ["generation"]]
    for command, *options in commands:
        (report,) = data(command, name, *options)
        assert report["rows"]
        for row in report["rows"][::4]:
            shown = get(name, row["address"], *(options or ()))
            if isinstance(row["value"], int):
                assert shown == row["value"]
            else:
                numerator, denominator = map(int, row["exact"].split("/"))
                assert shown * denominator == numerator


@pytest.mark.parametrize(
    ("address", "hints"),
    [
        ("params.totl", ["params.total"]),
        ("param.total", ["params"]),
        ("params", ["params.embedding"]),
        ("params.block.ffn.upp", ["params.block.ffn.up"]),
        ("params.blocks.decoder", ["params.block.decoder"]),
        ("flops.block.decoder.attention.scorse", ["flops.block.decoder.attention.scores"]),
        ("dims.n_haeds", ["dims.n_heads"]),
        ("kvcache", ["kvcache.token"]),
        ("", ["params"]),
        ("params..total", ["params.total"]),
        ("dims", ["dims.d_model"]),
    ],
)
def test_an_unknown_address_names_the_nearest(address: str, hints: list[str]) -> None:
    code, out, err = run("get", "gpt2-small", address)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for hint in hints:
        assert hint in err


def test_an_ambiguous_address_lists_its_candidates() -> None:
    code, out, err = run("get", "transformer-base", "params.block")
    assert (code, out) == (2, "")
    assert "params.block.encoder, params.block.decoder" in err
    code, out, err = run("get", "transformer-base", "dims.n_layers", "--set", "layers.count=2")
    assert (code, out) == (2, "")
    assert "dims.encoder.count" in err
    assert "dims.layers.count" in err


def test_a_block_called_like_a_letter_does_not_hide_it() -> None:
    name = "heads"
    tree = {
        "name": "generated", "source": "made up", "d_model": 8, "vocab": 3, "context": 4,
        "blocks": {
            name: {"norm": "rms", "attention": {"kind": "mha", "n_heads": 4}},
            "other": {"norm": "rms", "attention": {"kind": "mha", "n_heads": 4}},
        },
        "layers": {"count": 6, "pattern": [name, "other"]},
    }  # fmt: skip
    model = load(tree)
    if refusal := refusal_of(lambda: find(model, "dims.n_heads")):
        assert f"dims.blocks.{name}.attention.n_heads" in refusal
    else:
        assert find(model, "dims.n_heads") == 4


def test_the_models_of_the_first_release_are_bundled() -> None:
    assert set(MODELS) <= set(BUNDLED)
