"""GGUF mixes against the types that llama.cpp itself gives to the tensors of real models."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import yaml

from tests.support.running import DATA, find, named, refusal_of, report
from txcalc.accounts.storage import Storage
from txcalc.accounts.tensors import is_matrix
from txcalc.errors import RefusedError
from txcalc.model.model import Model, Row
from txcalc.model.rows import Weight
from txcalc.workload.mixes import BASES, DEFAULT, RELEASES, Mix, Shape
from txcalc.workload.question import Question

SNAPSHOTS: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
    (DATA / "gguf.yaml").read_text("utf-8")
)
CHANGES = {"qwen3-0.6b": ["head.tied=false"], "glm-4.5-air": ["mtp=null"]}
"""What the models of the snapshots have otherwise than the bundled ones."""
CALLED = {
    "embedding.tokens": "token_embd", "head.output": "output",
    "attention.v": "attn_v", "attention.o": "attn_output", "ffn.down": "ffn_down",
    "ffn.shared_down": "ffn_down_shexp",
}  # fmt: skip


def matrices(model: Model) -> list[Row]:
    """The rows that are quantised."""
    return [
        row
        for row in model.rows
        if isinstance(row.declared, Weight)
        and is_matrix(row.declared)
        and not row.declared.tied
        and row.declared.role != "router"
    ]


def layers_of(model: Model, row: Row) -> list[int]:
    kinds = model.stacks["decoder"].layers()
    return [i for i, name in enumerate(kinds) if row.layers and name == row.layers.name]


def listed(ranges: str) -> set[int]:
    bounds = [part.partition("-") for part in str(ranges).split()]
    return {i for low, _, high in bounds for i in range(int(low), int(high or low) + 1)}


def called(row: Row) -> str:
    name = CALLED.get(row.name if row.layers else row.address, "")
    is_routed = name == "ffn_down" and row.role == "experts"
    return f"{name}_exps" if is_routed else name


@pytest.mark.parametrize("mix", list(BASES))
@pytest.mark.parametrize("name", list(SNAPSHOTS))
def test_each_tensor_has_the_type_that_llama_cpp_gives_it(name: str, mix: str) -> None:
    model = named(name, CHANGES.get(name, []))
    snapshot = SNAPSHOTS[name][mix]
    storage = Storage(model, Question(weights=f"{mix}@v0.5.0"))
    for row in matrices(model):
        formats = [fmt.name for fmt in storage.formats(row) if fmt is not None]
        raised = snapshot.get(called(row), {})
        if row.layers is None:
            assert formats == [raised or snapshot["base"]], row.address
            continue
        places = layers_of(model, row)
        each = formats if len(formats) > 1 else formats * len(places)
        for layer, found in zip(places, each, strict=True):
            expected = [fmt for fmt, ranges in raised.items() if layer in listed(ranges)]
            assert [found] == (expected or [snapshot["base"]]), (row.address, layer)


@pytest.mark.parametrize(
    ("name", "weights", "bits"),
    [
        # A Mixtral 8x7B file of 2023-12 and llama.cpp of that month; a public log of 2024.
        ("mixtral-8x7b", "Q5_K_M@b1660", "5.52"),
        # Of 8 experts keys and values are in 8 bits: github.com/ggml-org/llama.cpp/pull/4406.
        ("mixtral-8x7b", "Q5_K_M", "5.69"),
        # huggingface.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF: 4.92 GB with its vocabulary.
        ("llama-3.1-8b", "Q4_K_M", "4.89"),
        ("llama-3.1-8b", "Q8_0", "8.50"),
    ],
)
def test_bits_of_a_parameter(name: str, weights: str, bits: str) -> None:
    value = Fraction(find(named(name), "weights.bits", weights=weights))
    assert abs(value - Fraction(bits)) <= Fraction(5, 1000)


def test_the_rules_are_those_of_a_release_that_is_named() -> None:
    """github.com/ggml-org/llama.cpp/pull/5650: a tied table has the type of the output."""
    model = named("gemma-7b")
    for release, fmt in {DEFAULT: 210, "b6673": 210, "b2074": 144}.items():
        [line] = report("weights", model, weights=f"Q4_K_M@{release}").assumptions
        assert release in line
        blocks = find(model, "params.embedding.tokens") // 256
        assert find(model, "weights.embedding", weights=f"Q4_K_M@{release}") == blocks * fmt
    assert DEFAULT in report("weights", model, weights="Q4_K_M").assumptions[0]
    default, named_so = (find(model, "weights.bytes", weights=w) for w in ("Q6_K", "Q6_K@v0.5.0"))
    assert default == named_so


@pytest.mark.parametrize(
    ("release", "mix", "tensor", "layer", "found"),
    [
        ("b1660", "Q3_K_M", "ffn_down", 1, "q5_k"),  # the first two, whatever the depth
        ("b1660", "Q3_K_M", "ffn_down", 2, "q4_k"),
        ("b1892", "Q3_K_M", "ffn_down", 3, "q5_k"),  # a sixteenth of 64
        ("b1660", "Q4_K_S", "ffn_down", 4, "q4_k"),
        ("b1892", "Q4_K_S", "ffn_down", 7, "q5_k"),
        ("b1660", "Q4_K_M", "attn_v", 0, "q6_k"),
    ],
)
def test_rules_of_early_releases(
    release: str, mix: str, tensor: Any, layer: int, found: str
) -> None:
    shape = Shape(n_layers=64, n_experts=0, grouped=False, tied=False)
    assert Mix(mix, release).type(tensor, layer, shape) == found


def test_outputs_of_attention_beside_8_experts() -> None:
    """llama.cpp b1660 and b1892, llama.cpp: get_k_quant_type."""
    shape = Shape(n_layers=32, n_experts=8, grouped=True, tied=False)
    types = {r: Mix("Q4_K_M", r).type("attn_output", 9, shape) for r in RELEASES}
    assert types == dict.fromkeys(RELEASES, "q5_k") | {"b1660": "q4_k"}
    down = {r: Mix("Q4_K_M", r).type("ffn_down", 0, shape) for r in RELEASES}
    assert down == dict.fromkeys(RELEASES, "q6_k") | {"b1660": "q4_k"}


@pytest.mark.parametrize(
    ("release", "columns", "found"),
    [
        ("v0.5.0", 576, "q4_0"), ("b6673", 576, "iq4_nl"), ("b2074", 576, "q4_1"),
        ("v0.5.0", 1000, "fp16"), ("b3658", 1000, "fp16"), ("v0.5.0", 768, "q3_k"),
    ],
)  # fmt: skip
def test_rows_of_no_whole_block_fall_back(release: str, columns: int, found: str) -> None:
    shape = Shape(n_layers=4, n_experts=0, grouped=False, tied=False)
    assert Mix("Q3_K_S", release).format("other", 0, columns, shape).name == found


@pytest.mark.parametrize(("name", "release"), [("Q4_0", "v0.5.0"), ("Q3_K_S", "b2074")])
def test_rows_that_no_file_is_made_of(name: str, release: str) -> None:
    shape = Shape(n_layers=4, n_experts=0, grouped=False, tied=False)
    with pytest.raises(RefusedError, match="rows of 1000 elements are no whole blocks of 32"):
        Mix(name, release).format("other", 0, 1000, shape)


def test_vectors_and_routers_are_wide() -> None:
    """conversion/base.py: what has one dimension, and what chooses experts, is in 32 bits."""
    model = named("mixtral-8x7b")
    for role in ("norms", "router"):
        wide, held = (find(model, f"weights.{role}", weights=w) for w in ("fp32", "Q4_K_M"))
        assert wide == held
    assert find(model, "weights.router", weights="Q4_K_M@b1660") * 2 == wide


def test_roles_sum_and_reads_are_less_with_layers_that_differ() -> None:
    model = named("mixtral-8x7b")
    figures = report("weights", model, weights="Q4_K_M").figures
    roles = [f for a, f in figures.items() if a not in ("weights.bytes", "weights.bits")]
    assert sum(figure.value for figure in roles) == figures["weights.bytes"].value
    made = report("intensity", model, weights="Q4_K_M", ctx=3, batch=10**6)
    table = figures["weights.embedding"].value + figures["weights.norms"].value
    assert made.beneath["intensity.decode.bytes"].value == figures["weights.bytes"].value - table


def test_a_role_may_differ_from_the_mix() -> None:
    model = named("llama-3.1-8b")
    both = (find(model, "weights.embedding", weights=f"Q4_K_M{e}") for e in ("", ",embedding=q8_0"))
    mixed, own = both
    assert own == mixed * Fraction(34 * 8, 144)


@pytest.mark.parametrize(
    ("name", "weights", "said"),
    [
        ("deepseek-v3", "Q4_K_M", "no GGUF mix Q4_K_M"),
        ("gpt2-small", "Q4_0", "its block 'decoder' has no ffn.gate"),
        ("gpt-oss-120b", "Q8_0", "sinks is outside of the rules for llama-like models"),
        ("bart-base", "Q4_0", "it has an encoder"),
        ("jamba-v0.1", "Q4_0", "no GGUF mix Q4_0"),
        ("glm-4.5-air", "Q4_0", "--set mtp=null"),
        ("gpt2-small", "Q4_K_M@b99", "the rules of llama.cpp 'b99' are not known"),
        ("gpt2-small", "q4_k", "choose a mix of a whole file (Q4_K_S, Q4_K_M)"),
        ("gpt2-small", "q4_0", "choose a mix of a whole file (Q4_0)"),
        ("gpt2-small", "Q2_K", "unknown number format 'Q2_K'"),
    ],
)
def test_other_lineages_and_mixes_are_refused(name: str, weights: str, said: str) -> None:
    assert said in refusal_of(lambda: find(named(name), "weights.bytes", weights=weights))


def test_deeper_models_than_llama_cpp_reads_are_refused() -> None:
    model = named("mistral-7b", ["n_layers=1000000000"])
    assert "512 layers at most" in refusal_of(lambda: find(model, "weights.bytes", weights="Q4_0"))
