"""In a terminal of any width nothing of an answer is lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.support.running import BUNDLED, answer, data
from tests.support.terminal import shown
from txcalc.report.format import binary, decimal

WIDTHS = st.integers(40, 200)
VARIED = (
    "bert-base-uncased", "bart-base", "deepseek-v3", "gemma-3-4b-text", "gpt3", "jamba-v0.1",
    "kimi-k2", "mixtral-8x7b", "nemotron-3-nano-30b-a3b", "toy", "whisper-large-v2",
)  # fmt: skip
DECODERS = tuple(name for name in VARIED if name != "bert-base-uncased")
FIGURES = (
    ("params",), ("flops", "--phase", "prefill", "--scores", "causal"), ("intensity",), ("show",),
)  # fmt: skip
OF_DECODERS = (
    ("kvcache", "--batch", "30"), ("concurrency",), ("generation",), ("memory", "--batch", "30"),
    ("fit", "--kv-memory", "10", "--requests", "3", "--ctx", "1024"),
    ("fit", "--device", "l4", "--requests", "300", "--ctx", "1024", "--engine", "vllm"),
    ("fit", "--ctx", "1024"),
)  # fmt: skip
NUMBER = re.compile(
    r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?: [KMGTPE]iB| B)?(?![\w.]|,\d)"
)
_HEADINGS = re.compile(r"^.*\n ─+$", re.MULTILINE)


def of_models(commands: Iterable[tuple[str, ...]], names: Iterable[str]) -> st.SearchStrategy[Any]:
    """A command about one to six models."""
    models = st.lists(st.sampled_from(sorted(names)), min_size=1, max_size=6, unique=True)
    return st.builds(lambda first, rest: (*first, *rest), st.sampled_from(list(commands)), models)


def numbers(text: str) -> Counter[str]:
    """The numbers of a text, each with the unit of bytes that follows it."""
    return Counter(" ".join(number.split()) for number in NUMBER.findall(text))


def words(text: str) -> Counter[str]:
    """The pieces of words that wrapping leaves whole, headings left out."""
    return Counter(re.findall(r"[^\W\d_]+", _HEADINGS.sub("", text)))


def written(row: dict[str, Any], places: int) -> list[str]:
    """The numbers of a row of JSON as a screen has them."""
    if "dims" in row:
        return [
            f"{n:,}" for n in (*row["dims"], row["copies"], *[row["count"]] * bool(row["count"]))
        ]
    if isinstance(row["value"], list):
        return [f"{n:,}" for n in row["value"]]
    if row.get("estimate"):
        return []
    value = Fraction(row.get("exact", row["value"]))
    exact = value.numerator if value.denominator == 1 else value
    if row["unit"] == "bytes":
        return [binary(exact)]
    return [decimal(exact, places)]


def check(*command: str, columns: int) -> None:
    """No line is too wide; every number of the JSON and every word of the piped answer is there."""
    text = shown(*command, columns=columns)
    assert max(map(cell_len, text.splitlines())) <= columns
    rows = [row for report in data(*command) for row in report["rows"]]
    places = 3 if command[0] == "generation" else 6
    expected = Counter(number for row in rows for number in written(row, places))
    assert expected <= numbers(text)
    assert words(answer(*command)) <= words(text)


@given(of_models(FIGURES, VARIED), WIDTHS)
def test_figures_of_several_models(command: tuple[str, ...], columns: int) -> None:
    check(*command, columns=columns)


@given(of_models(OF_DECODERS, DECODERS), WIDTHS)
def test_figures_of_several_decoders(command: tuple[str, ...], columns: int) -> None:
    check(*command, columns=columns)


@given(st.sampled_from(VARIED), WIDTHS, st.integers(1, 60))
def test_rooflines(model: str, columns: int, batch: int) -> None:
    line = ("roofline", model, "--device", "h100-sxm", "--ctx", "512", "--batch", batch)
    text = shown(*line, columns=columns)
    assert max(map(cell_len, text.splitlines())) <= columns
    assert words(answer(*line)) <= words(text)


@given(st.sampled_from(VARIED), WIDTHS)
def test_shapes(model: str, columns: int) -> None:
    check("shapes", model, columns=columns)


@given(st.sampled_from(VARIED), WIDTHS)
def test_tensors(model: str, columns: int) -> None:
    check("params", model, "--tensors", columns=columns)


@given(st.sampled_from(VARIED), WIDTHS)
def test_formulas(model: str, columns: int) -> None:
    check("params", model, "--explain", columns=columns)


@given(st.sampled_from(("name", "params", "kind")), WIDTHS)
def test_models(order: str, columns: int) -> None:
    check("models", "llama", "qwen", "--sort", order, columns=columns)


@given(st.sampled_from(DECODERS), st.sampled_from(("params.total", "kvcache.sequence")), WIDTHS)
def test_explanations(model: str, address: str, columns: int) -> None:
    text = shown("explain", model, address, columns=columns)
    assert max(map(cell_len, text.splitlines())) <= columns
    found = json.loads(answer("explain", model, address, "--format", "json"))
    figures = [found, *found["steps"], *found["symbols"]]
    whole = [row for row in figures if isinstance(row["value"], int)]
    expected = {binary(r["value"]) if r["unit"] == "bytes" else f"{r['value']:,}" for r in whole}
    assert expected <= set(numbers(text))
    assert words(answer("explain", model, address)) <= words(text)
    for symbol in found["symbols"]:
        assert re.search(rf"^ +{re.escape(symbol['name'])}(?![\w])", text, re.MULTILINE)


@given(
    st.lists(
        st.sampled_from(("flops.total", "params.total", "kvcache.sequence", "dims.n_layers")),
        min_size=1, max_size=4, unique=True,
    ),
    st.lists(
        st.sampled_from(("ctx=512:4096:x2", "batch=1:3", "model=gpt3,mixtral-8x7b")),
        min_size=1, max_size=3, unique=True,
    ),
    WIDTHS,
)  # fmt: skip
def test_points_of_a_sweep(addresses: list[str], axes: list[str], columns: int) -> None:
    addresses = ["kvcache.total", *addresses]
    options = [word for axis in axes for word in ("--over", axis)]
    command = ("sweep", "gpt3", *addresses, *options)
    text = shown(*command, columns=columns)
    assert max(map(cell_len, text.splitlines())) <= columns
    points = [json.loads(line) for line in answer(*command, "--format", "json").splitlines()]
    names = [axis.partition("=")[0] for axis in axes]
    expected = Counter(f"{point[a]:,}" for point in points for a in addresses)
    expected += Counter(str(point[n]) for point in points for n in names if n != "model")
    assert expected <= numbers(text)


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_four_models_have_all_digits(columns: int) -> None:
    """46,440,644,608 once read 46,440,644,60."""
    command = ("flops", "gpt3", "llama-3.1-8b", "mixtral-8x7b", "toy")
    for report in data(*command):
        [total] = [r["value"] for r in report["rows"] if r["address"] == "flops.total"]
        assert f" {total:,}" in shown(*command, columns=columns)


def test_a_list_of_models_has_a_line_a_model_in_100_columns() -> None:
    for order in ((), ("--sort", "name"), ("--sort", "params")):
        lines = shown("models", *order, columns=100).splitlines()
        rows = [line.split() for line in lines if re.search(r" [\d,]{5,}$", line)]
        assert sorted(row[0] for row in rows) == sorted(BUNDLED)
        assert all(len(row) > 2 for row in rows)
