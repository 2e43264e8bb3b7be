"""Hugging Face configs against counts measured by instantiating the public classes.

Facts: transformers 5.24.0 with torch 2.13.0 on the meta device (tests/oracle/measure.py measures
them again by hand).  ``models`` are configs of published checkpoints, ``types``, ``masked`` and
``seq2seq`` the default configs of model types, ``small`` awkward little ones with a flag turned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from txcalc.accounts import registry
from txcalc.errors import DescriptionError, RefusedError
from txcalc.exact.quantity import Quantity
from txcalc.model.model import Model
from txcalc.sources import description, huggingface, yaml
from txcalc.sources.families import TYPES
from txcalc.workload.question import Question
from txcalc.workload.reach import Window

FOLDER = Path(__file__).parents[1] / "oracle"
SETS = ("models", "types", "masked", "seq2seq", "small")


def rows(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def described(row: dict[str, Any]) -> dict[str, Any]:
    config = json.dumps({"architectures": [row["class"]], **row["config"]}).encode()
    name = row["name"].replace(":", "-").replace("=", "-").replace("+", "-")
    tree, _, _ = huggingface.describe(config, "config.json", name=name, type_=row["type"])
    return tree


def model_of(row: dict[str, Any]) -> Model:
    return description.build(described(row), "tree")


def figure(model: Model, address: str, **options: Any) -> Quantity:
    return registry.report_of(address, model, Question(**options)).find(address)


def is_partial(model: Model) -> bool:
    return any(block.partial for block in model.blocks.values())


MODELS = rows("models")


@pytest.mark.parametrize("row", MODELS, ids=lambda row: row["name"])
def test_a_published_checkpoint_is_exact_and_wholly_described(row: dict[str, Any]) -> None:
    model = model_of(row)
    assert figure(model, "params.total").value == row["total"]
    assert not is_partial(model)


@pytest.mark.parametrize("name", SETS[1:])
def test_no_count_is_wrong(name: str) -> None:
    wrong = []
    for row in rows(name):
        try:
            got = figure(model_of(row), "params.total").value
        except (RefusedError, DescriptionError):
            continue
        if got != row["total"]:
            wrong.append((row["name"], got, row["total"]))
    assert not wrong


def exact(name: str) -> Iterator[bool]:
    for row in rows(name):
        try:
            yield figure(model_of(row), "params.total").value == row["total"]
        except (RefusedError, DescriptionError):
            yield False


@pytest.mark.parametrize(("name", "bar"), [("types", 95), ("masked", 80), ("seq2seq", 80)])
def test_few_types_are_refused(name: str, bar: int) -> None:
    found = list(exact(name))
    assert 100 * sum(found) >= bar * len(found)


MEASURED = [row for row in MODELS if "prefill" in row]


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["name"])
def test_prefill_and_decode_flops_are_exact(row: dict[str, Any]) -> None:
    """Full squares of scores; in decode one token after 1,023, latents expanded anew."""
    model = model_of(row)
    both = model.has_encoder and model.has_decoder
    for shape, total in row["prefill"].items():
        batch, tokens = (int(part[1:]) for part in shape.split("_"))
        source = {"source": tokens} if both else {}
        options = {"phase": "prefill", "batch": batch, "ctx": tokens, **source}
        got = figure(model, "flops.total", scores="square", **options)
        assert got.value == total, shape
    if "decode" in row:
        source = {"source": 1023} if both else {}
        options = {"phase": "decode", "ctx": 1024, "mla": "reexpand", **source}
        got = figure(model, "flops.total", scores="square", **options)
        assert got.value == row["decode"]


RECURRENT = [row for row in MODELS if "projections" in row]


@pytest.mark.parametrize("row", RECURRENT, ids=lambda row: row["name"])
def test_projections_of_recurrent_models_are_exact(row: dict[str, Any]) -> None:
    """All weight products but convolutions and Mamba's dt, which the counter's modules miss."""
    model = model_of(row)
    report = registry.account("flops", model, Question(phase="prefill", scores="square", ctx=16))
    total = report.find("flops.head").value
    for kind in model.layers:
        for name, weight in kind.weights.items():
            if weight.use == "matmul" and name not in ("ssm.conv", "ssm.dt"):
                row_flops = report.find(f"flops.block.{kind.name}.{name}").value
                total += row_flops * kind.count.value
    assert total == row["projections"]


CACHED = [row for row in MODELS if "kv" in row]


@pytest.mark.parametrize("row", CACHED, ids=lambda row: row["name"])
def test_cache_bytes_are_exact_but_for_one_token_of_a_full_window(row: dict[str, Any]) -> None:
    """A window layer was measured with window - 1 tokens; an engine budgets the window."""
    model = model_of(row)
    total = figure(model, "kvcache.total", ctx=2048, dtype="bf16").value
    one_token_less = sum(
        2 * state.width.value * kind.count.value
        for kind in model.decoder_layers
        for state in kind.state.values()
        if isinstance(state.reach, Window) and state.reach.size.value < 2048
    )
    assert row["kv"] in (total, total - one_token_less)


@pytest.mark.parametrize("name", SETS)
def test_the_imported_description_gives_the_same_figures(name: str) -> None:
    """All parameters, and for whole models all FLOPs and cache bytes."""
    for row in rows(name)[:: 1 if name == "models" else 7]:
        try:
            tree = described(row)
            direct = description.build(tree, "tree")
        except (RefusedError, DescriptionError):
            continue
        again = description.build(yaml.load(yaml.dump(tree), "yaml"), "yaml")
        accounts = ["params"] if is_partial(direct) else ["params", "flops", "kvcache"]
        for account in accounts:
            question = Question(ctx=64, phase="decode" if direct.has_decoder else "prefill")
            try:
                figures = registry.account(account, direct, question).figures
            except RefusedError:
                continue
            assert registry.account(account, again, question).figures == figures, (
                row["name"],
                account,
            )


PARTIAL = {
    "big_bird": "block-sparse attention",
    "bigbird_pegasus": "block-sparse attention in the encoder",
    "blt": "patches whose number depends on the text",
    "convbert": "convolutions whose kernel depends on the token",
    "cpmant": "prompts and segments of unlike length",
    "deepseek_v2": "a default config that leaves top_k open",
    "dots1": "a default config that leaves top_k open",
    "fnet": "Fourier transforms in place of attention",
    "funnel": "sequences that shrink from block to block",
    "inkling2_loop_text": "relative profiles and convolved heads",
    "inkling2_text": "relative profiles and convolved heads",
    "led": "global tokens in the encoder",
    "longformer": "global tokens",
    "luke": "queries that depend on words and entities",
    "mobilebert": "bottlenecks around each block",
    "mra": "multi-resolution attention",
    "neomme": "gates between experts of several towers",
    "nystromformer": "landmarks in place of keys",
    "pegasus_x": "blocks and global tokens in the encoder",
    "perceiver": "latents of another length than the text",
    "prophetnet": "several streams of predicted n-grams",
    "qwen4_exp_text": "low-rank hyper-connections and an indexer over groups",
    "reformer": "hashed buckets and chunks",
    "squeezebert": "grouped convolutions as projections",
    "xlnet": "two streams with relative projections",
    "yoso": "sampled attention",
}
"""Type -> what of it no part describes, so that its parameters are all that is told."""


def test_the_partial_types_are_those_listed() -> None:
    found = set()
    for name in ("types", "masked", "seq2seq"):
        for row in rows(name):
            try:
                if is_partial(model_of(row)):
                    found.add(row["type"])
            except (RefusedError, DescriptionError):
                continue
    assert found == set(PARTIAL)


def test_deepseek_v3_counts_what_its_paper_states() -> None:
    """arXiv:2412.19437: 671B parameters, 37B active; with the MTP module the release has 684.5B."""
    [row] = [row for row in MODELS if row["name"] == "deepseek-r1"]
    model = model_of(row)
    total = figure(model, "params.total").value
    assert figure(model, "params.active").value == 37_552_282_624
    assert total + figure(model, "params.buffers").value == 671_026_419_200
    assert round((total + figure(model, "params.mtp").value) / 10**8) == 6845


def test_every_type_names_a_function_that_exists() -> None:
    from importlib import import_module

    for entry in TYPES.values():
        module, _, function = entry.partition(":")[0].partition(".")
        assert callable(getattr(import_module(f"txcalc.sources.families.{module}"), function))
