"""``--set``: a dimension wherever it stands, or one field by its path."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import txcalc
from tests.sources.test_bad_descriptions import GOOD
from tests.support.oracle import answered, described, model_of
from tests.support.running import answer, data, get, run
from txcalc.accounts import registry
from txcalc.errors import TxcalcError
from txcalc.sources import yaml
from txcalc.sources.loading import built
from txcalc.workload.question import Question

ENCODER = 4 * 512**2 + 2 * 512 * 2048 + (2048 + 512) + 2 * (2 * 512)
DECODER = ENCODER + 4 * 512**2 + 2 * 512
"""Parameters of transformer-base's blocks, arXiv:1706.03762 section 3: no biases in attention."""


SMALL = {row["type"]: row for row in reversed(answered("small"))}
"""The first small config of each type that is not refused."""

STATED = [
    # A letter changes everywhere, and what derives from it follows.
    ("gpt2-small", ["n_layers=48"], "params.blocks", 48 * 7087872),
    ("gpt2-small", ["d_model=1536"], "dims.head_dim", 128),
    ("gpt2-small", ["n_heads=6"], "dims.head_dim", 128),
    ("gpt2-small", ["head_dim=32"], "params.block.attention.q", 768 * 12 * 32),
    ("gpt2-small", ["vocab=50304"], "params.embedding.tokens", 50304 * 768),
    ("gpt2-small", ["context=64"], "kvcache.sequence", 64 * 36864),
    ("transformer-base", ["n_layers=2"], "params.blocks", 2 * ENCODER + 2 * DECODER),
    ("transformer-base", ["n_heads=4"], "dims.head_dim", 128),
    ("bart-base", ["d_ff=1"], "dims.d_ff", 1),
    # A path changes one field, whether it begins at the top or ends there.
    ("transformer-base", ["encoder.count=2"], "dims.encoder.count", 2),
    ("transformer-base", ["encoder.count=2"], "dims.layers.count", 6),
    ("transformer-base", ["encoder.ffn.d_ff=7"], "dims.blocks.encoder.ffn.d_ff", 7),
    ("transformer-base", ["blocks.encoder.ffn.d_ff=7"], "dims.blocks.decoder.ffn.d_ff", 2048),
    # A whole path before the end of a longer one: transformer-base has a block called encoder.
    ("transformer-base", ["encoder.token_types=2"], "params.embedding.token_types", 2 * 512),
    ("gpt2-small", ["ffn.bias=false"], "params.block.ffn.biases", 0),
    ("gpt2-small", ["attention.bias=[q, v]"], "params.block.attention.biases", 2 * 768),
    ("gpt2-small", ["head.tied=false"], "params.head", 50257 * 768),
    ("gpt2-small", ["attention={kind: gqa, n_heads: 12, n_kv_heads: 4}"],
     "params.block.attention.k", 768 * 256),
    # One after another, later ones upon earlier ones.
    ("toy", ["ffn.kind=glu", "d_ff=171"], "params.block.ffn.matmul", 32832),
    ("toy", ["d_ff=171", "ffn.kind=glu"], "params.block.ffn.matmul", 32832),
    ("toy", ["d_ff=5", "d_ff=7"], "dims.d_ff", 7),
    ("toy", ["d_ff=[5]", "d_ff=7"], "dims.d_ff", 7),
    ("toy", ["d_ff={a: 5}", "d_ff=7"], "dims.d_ff", 7),
    ("gpt2-small", ["d_model=770", "n_heads=10"], "dims.head_dim", 77),
    ("gpt2-small", ["n_heads=10", "d_model=770"], "dims.head_dim", 77),
    # All of them first, then the rules, whatever their order.
    ("gpt2-small", ["d_model=770", "head_dim=64"], "dims.head_dim", 64),
    ("gpt2-small", ["head_dim=64", "d_model=770"], "dims.head_dim", 64),
    ("gpt2-small", ["n_kv_heads=4", "attention.kind=gqa"], "params.block.attention.k", 768 * 256),
    ("gpt2-small", ["attention.kind=gqa", "n_kv_heads=4"], "params.block.attention.k", 768 * 256),
    ("gpt2-small", ["d_ff=5", "ffn={kind: plain, d_ff: 7}"], "dims.d_ff", 5),
    ("gpt2-small", ["ffn={kind: plain, d_ff: 7}", "d_ff=5"], "dims.d_ff", 5),
    ("llama-3.1-8b", ["n_heads=30", "n_kv_heads=6", "head_dim=128"], "dims.n_kv_heads", 6),
    # A field that one part alone can have.
    ("llama-3.1-8b", ["window=1Ki"], "kvcache.sequence", 2 * 32 * 8 * 128 * 1024 * 2),
    # Arithmetic over names, before or after what it reads is changed itself.
    ("gpt2-small", ["d_ff=4*d_model", "d_model=1536"], "dims.d_ff", 6144),
    ("gpt2-small", ["d_model=1536", "d_ff=4*d_model"], "dims.d_ff", 6144),
    ("gpt2-small", ["d_ff=8/3*d_model"], "dims.d_ff", 2048),
    ("gpt2-small", ["d_ff=n_heads*(head_dim + 1)", "n_heads=6"], "dims.d_ff", 6 * 129),
    ("gpt2-small", ["d_ff=2*d_ff"], "dims.d_ff", 6144),
    ("gpt2-small", ["head_dim=n_heads"], "dims.head_dim", 12),
    ("gpt2-small", ["vocab=2*32*1024"], "dims.vocab", 65536),
    ("gpt2-small", ["vocab=50_304"], "dims.vocab", 50304),
    ("transformer-base", ["encoder.ffn.d_ff=decoder.ffn.d_ff - d_model"],
     "dims.blocks.encoder.ffn.d_ff", 1536),
]  # fmt: skip

REFUSED = {
    "n_layer=48": ["'n_layer'", "'n_layers'"],
    "n_kv_heads=4": ["'n_kv_heads'", "--set attention.kind=gqa or"],
    "n_experts=4": ["'n_experts'", "ffn.kind=moe"],
    "d_ff=4*d_modl": ["blocks.decoder.ffn.d_ff", "'d_modl'", "'d_model'"],
    "d_ff=4*": ["'4*'", "ends too early"],
    "d_ff=7/5*d_model": ["7/5*d_model", "1,075.2", "no whole number"],
    "d_ff=d_model/0": ["division by zero"],
    "d_ff=4*tied": ["tied is no dimension"],
    "n_layers=32k": ["layers.count", "'32k'", "32,000", "32Ki = 32,768"],
    "n_layers": ["NAME=VALUE"],
    "=5": ["NAME=VALUE"],
    "": ["NAME=VALUE"],
    "n_layers=": ["n_layers="],
    "n_layers=0": ["layers.count", "10^15"],
    "n_layers=-1": ["layers.count", "10^15"],
    "n_layers=1e3": ["layers.count", "'1e3'"],
    "n_layers=010": ["layers.count", "'010'"],
    "n_layers=2.5": ["layers.count", "'2.5'"],
    "n_layers=two": ["layers.count", "'two'"],
    "n_layers=1000000000000001": ["layers.count", "10^15"],
    "n_layers=[4]": ["layers.count", "whole number"],
    "d_model=769": ["d_model 769", "n_heads 12"],
    "d_model=&a 5": ["anchors"],
    "d_model={": ["bad YAML"],
    "ffn.kind=plane": ["blocks.decoder.ffn.kind", "'plain'"],
    "ffn.kind=moe": ["blocks.decoder.ffn.d_ff", "unknown field", "d_expert"],
    "ffn.width=5": ["blocks.decoder.ffn.width", "unknown field", "d_ff"],
    "ffn.bias=1": ["blocks.decoder.ffn.bias"],
    "attention.n_kv_heads=4": ["blocks.decoder.attention.n_kv_heads", "unknown field"],
    "decoder.fnn.d_ff=5": ["'decoder.fnn'", "'blocks.decoder.ffn'"],
    "bias=false": ["blocks.decoder.attention.bias", "blocks.decoder.ffn.bias"],
    "encoder.count=3": ["encoder"],
    "blocks.decoder=3": ["blocks.decoder", "mapping"],
    "params.total=4": ["'params'"],
    "..=3": ["--set"],
    "ffn.=3": ["blocks.decoder.ffn"],
    "blocks={}": ["block"],
    "layers={}": ["layers", "'count'"],
    "positions=rotary": ["layers.positions", "'rotary'"],
}


@pytest.mark.parametrize(("model", "changes", "address", "value"), STATED)
def test_a_change_is_carried_out(model: str, changes: list[str], address: str, value: int) -> None:
    options = [part for change in changes for part in ("--set", change)]
    assert get(model, address, *options) == value


SEVERAL = [row for row in STATED if len({c.partition("=")[0] for c in row[1]}) == len(row[1]) > 1]


@pytest.mark.parametrize(("model", "changes", "address", "value"), SEVERAL)
def test_the_order_of_changes_is_free(
    model: str, changes: list[str], address: str, value: int
) -> None:
    for order in permutations(changes):
        assert txcalc.get(txcalc.load(model, order), address) == value


@pytest.mark.parametrize("change", REFUSED)
def test_a_change_that_cannot_be(change: str) -> None:
    code, out, err = run("params", "gpt2-small", "--set", change)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for words in REFUSED[change]:
        assert words in err
    assert not err.rstrip().endswith(("known:", ";"))


@pytest.mark.parametrize("change", ["n_layers=0", "d_model=769", "ffn.kind=moe", "n_layers=two"])
def test_what_a_change_broke_is_told_of_the_change(change: str) -> None:
    """The file is fine; saying that its line is wrong would send the reader to the wrong place."""
    assert f"--set {change}" in run("params", "gpt2-small", "--set", change).err


def test_a_letter_of_several_values_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("{kind: mha, n_heads: 4}", "{kind: mha, n_heads: 2}"), "utf-8")
    code, out, err = run("params", path, "--set", "n_heads=4")
    assert (code, out) == (2, "")
    assert "parts.own.n_heads = 4" in err
    assert "blocks.sparse.attention.n_heads = 2" in err
    one = ("--set", "sparse.attention.n_heads=1")
    assert get(str(path), "dims.blocks.sparse.attention.n_heads", *one) == 1
    assert get(str(path), "dims.n_heads", "--set", "own.n_heads=2") == 2


def test_a_letter_changes_in_shared_parts_too(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(GOOD, "utf-8")
    changed = get(str(path), "dims.n_heads", "--set", "n_heads=8")
    assert changed == 8
    for block in ("dense", "sparse"):
        q = get(str(path), f"params.block.{block}.attention.q", "--set", "n_heads=8")
        assert q == 64


def test_a_change_leaves_the_bundled_model_alone() -> None:
    before = get("toy", "params.total")
    assert get("toy", "params.total", "--set", "d_ff=1") < before
    assert get("toy", "params.total") == before


def test_a_change_applies_to_every_model_that_is_shown() -> None:
    reports = data("params", "toy", "gpt2-small", "--set", "vocab=10")
    for report, width in zip(reports, (64, 768), strict=True):
        tokens = [r for r in report["rows"] if r["address"] == "params.embedding.tokens"]
        assert [row["value"] for row in tokens] == [10 * width]


@pytest.mark.parametrize("row", SMALL.values(), ids=SMALL)
def test_a_config_and_the_description_it_means_change_alike(row: dict[str, Any]) -> None:
    """Every other dimension by its name, and some by their paths."""

    imported = yaml.parse(yaml.dump(described(row)), "c")

    def changed(tree: Any, change: str) -> object:
        try:
            model = built(tree, "c", [change])
        except TxcalcError as error:
            return str(error)
        figures = registry.account("params", model, Question()).figures
        return [figure.value for figure in figures.values()]

    dims = model_of(row).dims
    names = sorted({letter.name for letter in dims.values()})
    places = [*names[::2], *list(dims)[::9]]
    for place in places:
        value = next(d.value for path, d in dims.items() if place in (path, d.name))
        change = f"{place}={2 * value}"
        assert changed(described(row), change) == changed(deepcopy(imported), change), change


@pytest.mark.parametrize("d_model", [8, 16, 24])
def test_a_size_written_as_a_product_follows_its_letters(tmp_path: Path, d_model: int) -> None:
    """Twice the stream wide, as the projection of DeepSeek-V3's modules (arXiv:2412.19437, 2.2)."""
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("dims: [d_ff, d_model]", "dims: [2*d_model, d_ff * 3 *d_model]"))
    held = get(str(path), "params.block.dense.tensors.conv", "--set", f"d_model={d_model}")
    assert held == 2 * d_model * 6 * 3 * d_model


def test_a_broken_description_is_mended_by_a_change(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("d_model: 8", "d_model: 9"), "utf-8")
    assert "head_dim" in run("params", path).err
    changes = ("--set", "own.head_dim=2", "--set", "sparse.attention.head_dim=2")
    assert get(str(path), "dims.head_dim", *changes) == 2


@pytest.mark.parametrize(
    ("model", "change", "further"),
    [
        ("gpt2-small", "d_model=1024", "--set head_dim=64"),
        ("mixtral-8x7b", "n_experts=1", "--set top_k=1"),
        ("mixtral-8x7b", "top_k=9", "--set n_experts=9"),
        ("llama-3.1-8b", "n_kv_heads=12", "--set n_heads=36"),
        ("llama-3.1-8b", "n_heads=30", "--set n_kv_heads=6 and --set head_dim=128"),
    ],
)
def test_a_refusal_names_a_change_that_would_do(model: str, change: str, further: str) -> None:
    refusal = run("params", model, "--set", change).err
    assert "it would do" in refusal
    named = re.findall(r"--set (\S+)", refusal.rpartition("; with ")[2])
    assert run("params", model, *(w for c in (change, *named) for w in ("--set", c))).code == 0
    if change != "n_kv_heads=12":
        assert f"; with {further} it would do" in refusal


def test_changes_that_wait_for_each_other_are_refused() -> None:
    ran = run("params", "gpt2-small", "--set", "d_ff=2*n_heads", "--set", "n_heads=d_ff/256")
    assert (ran.code, ran.out) == (2, "")
    assert "--set d_ff=2*n_heads: it reads what --set n_heads=d_ff/256 sets" in ran.err


@pytest.mark.parametrize(
    ("model", "changes", "notes"),
    [
        ("gpt2-small", ["d_model=1536"], ["d_ff stays 3,072, 4·d_model before"]),
        ("gpt2-small", ["d_model=1536", "d_ff=6144"], []),
        ("gpt2-small", ["d_model=1536", "d_ff=4*d_model"], []),
        ("gpt2-small", ["d_model=1536", "d_ff=3072"], []),
        ("gpt2-small", ["n_layers=24"], []),
        ("gpt2-small", ["context=2048"], ["n_positions stays 1,024, context before"]),
        ("gpt2-small", ["n_positions=2048"], ["context stays 1,024, n_positions before"]),
        ("gpt3", ["n_heads=48"], []),
        ("qwen2-7b", ["n_heads=14"], []),
        ("gemma-7b", ["d_model=1536"], ["d_ff stays 24,576, 8·d_model before"]),
        ("llama-3.1-8b", ["d_model=8192"], []),
    ],
)  # fmt: skip
def test_what_a_reader_would_expect_to_follow_is_noted(
    model: str, changes: list[str], notes: list[str]
) -> None:
    ran = run("get", model, "params.total", *(w for c in changes for w in ("--set", c)))
    assert ran.err.count("stays") == len(notes)
    for note in notes:
        field, text = note.split()[0], note.rpartition(", ")[2].removesuffix(" before")
        assert f"txcalc: warning: {model}: {note}" in ran.err
        assert f"--set {field}={text.replace('·', '*')} would change it too" in ran.err


def test_a_letter_set_to_arithmetic_is_defined_by_it() -> None:
    changes = ("--set", "d_ff=4*d_model", "--set", "d_model=1536")
    [letter] = [
        symbol
        for symbol in json.loads(
            answer("explain", "gpt2-small", "params.block.ffn", *changes, "--format", "json")
        )["symbols"]
        if symbol["name"] == "d_ff"
    ]
    assert (letter["value"], letter["formula"], letter["from"]) == (
        6144,
        "4·d_model",
        "its formula",
    )
