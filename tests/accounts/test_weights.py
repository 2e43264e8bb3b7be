"""Bytes of weights by role and by scheme: published sizes, laws, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.counting import Tree
from tests.support.describing import descriptions
from tests.support.running import BUNDLED, find, load, named, refusal_of, report
from txcalc.model.rows import Role
from txcalc.workload.schemes import SCHEMES

GROUPED = ("gptq-g128", "awq-g32", "int4-g128", "mlx-4-g64")
TILED = sorted({*SCHEMES, *GROUPED} - {"mxfp4"})
GIB = 2**30
LAW = ("gpt2-small", "mixtral-8x7b", "deepseek-v3", "gemma-2-9b", "jamba-v0.1", "bart-base")


def roles(figures: dict[str, object]) -> list[str]:
    """The addresses of the roles of a text model."""
    own = [role for role in get_args(Role) if role not in ("tower", "projector")]
    return [f"weights.{role}" for role in own if f"weights.{role}" in figures]


@pytest.mark.parametrize(
    ("weights", "gib"), [("fp8", "65.71"), ("fp8-channel", "67.69"), ("bf16", "131.42")]
)
def test_a_flat_format_is_narrower_than_what_a_checkpoint_holds(weights: str, gib: str) -> None:
    """A 70B Llama in FP8: parameters in a byte, and 67.72 GiB less a table of 32 MiB as loaded.

    github.com/llm-d-incubation/llm-d-planner, docs/empirical-vllm-memory-results.md.
    """
    held = Fraction(find(named("llama-3.3-70b"), "weights.bytes", weights=weights), GIB)
    assert abs(held - Fraction(gib)) <= Fraction(5, 1000)


def test_a_flat_narrow_format_names_the_scheme_that_leaves_tables_wide() -> None:
    model = named("llama-3.3-70b")
    for account in ("weights", "concurrency", "intensity"):
        [line] = [c for c in report(account, model, weights="fp8").conventions if "fp8" in c]
        assert "tables" in line
        assert "--weights fp8-channel" in line
    for wide in ("bf16", "fp8-channel", "fp8,embedding=bf16"):
        assert report("weights", model, weights=wide).conventions == [] or "," in wide


@pytest.mark.parametrize("name", BUNDLED)
def test_roles_sum_to_the_whole(name: str) -> None:
    model = named(name)
    for weights in ("bf16", "int4", "fp8-128x128", "mlx-4-g64"):
        figures = report("weights", model, weights=weights).figures
        whole = figures["weights.bytes"].value
        assert sum(figures[role].value for role in roles(figures)) == whole
        bits = figures["weights.bits"]
        assert (bits.value * find(model, "params.total"), bits.unit) == (
            8 * whole,
            "bits/parameter",
        )


@given(descriptions(), st.sampled_from(["fp32", "fp16", "fp8", "int4"]))
def test_a_flat_format_holds_every_parameter_alike(tree: Tree, fmt: str) -> None:
    model = load(tree)
    each = {"fp32": 4, "fp16": 2, "fp8": 1, "int4": Fraction(1, 2)}[fmt]
    figures = report("weights", model, weights=fmt).figures
    assert figures["weights.bytes"].value == each * find(model, "params.total")
    assert sum(figures[role].value for role in roles(figures)) == figures["weights.bytes"].value


@pytest.mark.parametrize("name", LAW)
@pytest.mark.parametrize("scheme", TILED)
def test_a_scheme_leaves_all_but_matmuls_as_they_are(name: str, scheme: str) -> None:
    model = named(name)
    wide, held = (report("weights", model, weights=w).figures for w in ("fp16", scheme))
    same = ["norms", "router", "buffers"]
    if not scheme.startswith("mlx"):
        same += ["embedding", "head"]
    assert all(held[f"weights.{role}"] == wide[f"weights.{role}"] for role in same)
    for role in ("attention", "cross_attention", "ffn", "experts", "shared"):
        before, after = (f[f"weights.{role}"].value for f in (wide, held))
        assert after < before if before else after == 0, role


@pytest.mark.parametrize("name", LAW)
@pytest.mark.parametrize("scheme", [*TILED, "mxfp4", "fp8,norms=fp32", "attention=q4_0"])
def test_no_model_reads_more_than_it_holds(name: str, scheme: str) -> None:
    model = named(name)
    held = find(model, "weights.bytes", weights=scheme)
    for phase in ("prefill", "decode"):
        made = report("intensity", model, weights=scheme, ctx=3, batch=5)
        assert 0 < made.beneath[f"intensity.{phase}.bytes"].value <= held


def test_mxfp4_holds_routed_experts_alone() -> None:
    """arXiv:2508.10925 section 2.1: the mixture's weights, 4.25 bits a parameter."""
    model = named("gpt-oss-120b")
    wide, held = (report("weights", model, weights=w).figures for w in ("bf16", "mxfp4"))
    changed = [role for role in roles(wide) if held[role] != wide[role]]
    assert changed == ["weights.experts"]
    biases = 36 * 128 * (2 * 2880 + 2880)
    matrices = 36 * 128 * 3 * 2880**2
    assert held["weights.experts"].value == matrices * Fraction(17, 32) + 2 * biases


def test_mlx_holds_a_tied_table_once() -> None:
    model = named("llama-3.2-3b")
    assert find(model, "weights.head", weights="mlx-4-g64") == 0
    table = find(model, "params.embedding.tokens") * Fraction(9, 16)
    assert find(model, "weights.embedding", weights="mlx-4-g64") == table


def test_a_gate_of_one_row_stays_wide() -> None:
    """Qwen3-Next's gate of the shared expert: github.com/huggingface/transformers, qwen3_next."""
    model = named("qwen3-next-80b-a3b")
    held = find(model, "weights.shared", weights="fp8-tensor")
    assert held == 48 * (3 * (2048 * 512 + 4) + 2 * 2048)


@pytest.mark.parametrize(
    ("changed", "role"), [("fp16,norms=fp32", "norms"), ("fp8,embedding=fp32", "embedding")]
)
def test_a_role_in_a_format_of_its_own(changed: str, role: str) -> None:
    model = named("mistral-7b")
    base = changed.partition(",")[0]
    flat, own, fp32 = (report("weights", model, weights=w).figures for w in (base, changed, "fp32"))
    for other in roles(flat):
        assert own[other] == (fp32 if other == f"weights.{role}" else flat)[other]


def test_without_a_base_the_rest_is_in_dtype() -> None:
    """Kimi-K2-Thinking: experts in 4 bits by groups of 32, all else in bf16."""
    model = named("kimi-k2")
    base, experts = (
        report("weights", model, dtype="bf16", weights=w).figures
        for w in (None, "experts=int4-g32")
    )
    assert [role for role in roles(base) if base[role] != experts[role]] == ["weights.experts"]
    matrices = 60 * 384 * 3
    elements = matrices * 7168 * 2048
    assert experts["weights.experts"].value == elements * Fraction(9, 16) + 16 * matrices


def test_buffers_count_where_they_are_named() -> None:
    """DeepSeek-V3's router biases: 58 layers of 256 experts, arXiv:2412.19437 section 2.1.2."""
    model = named("deepseek-v3")
    plain, with_buffers = (
        find(model, "weights.bytes", weights=w) for w in ("bf16", "bf16,buffers=fp32")
    )
    assert with_buffers - plain == 4 * 58 * 256
    assert find(model, "weights.buffers", weights="bf16") == 0


def test_modules_count_where_they_are_asked_for() -> None:
    """arXiv:2412.19437 section 2.2: a block of the model, tables, and a joint projection 2d x d."""
    model = named("deepseek-v3")
    held = report("weights", model, weights="fp8-128x128", mtp=True).figures
    without = find(model, "weights.bytes", weights="fp8-128x128")
    assert held["weights.bytes"].value - without == held["weights.mtp"].value
    parameters, wide = find(model, "params.mtp"), 2 * 129280 * 7168 + 2 * 7168**2
    beside = held["weights.mtp"].value - parameters - wide
    assert 0 < beside < parameters // 1000
    assert find(model, "weights.mtp", weights="fp8") == 0
    assert find(model, "weights.bits", weights="bf16", mtp=True) == 16


def test_a_checkpoint_with_its_module() -> None:
    """The files of huggingface.co/deepseek-ai/DeepSeek-V3, each with a header of some 73 kB."""
    held = find(named("deepseek-v3"), "weights.bytes", weights="fp8-128x128,buffers=fp32", mtp=True)
    assert 0 < 688_586_727_753 - held < 163 * 100_000


@pytest.mark.parametrize(
    ("name", "question", "said"),
    [
        ("gpt2-small", {"weights": "fp16,experts=fp8"}, "gpt2-small has no 'experts'"),
        ("gpt2-small", {"weights": "fp16,norm=fp8"}, "no 'norm'; did you mean 'norms'"),
        ("gpt2-small", {"weights": "fp16,mtp=fp8"}, "gpt2-small has no 'mtp'"),
        ("deepseek-v3", {"weights": "fp16,mtp=fp8"}, "deepseek-v3 has no 'mtp'"),
        ("mistral-7b", {"weights": "fp16,norms=q8_0"}, "no matrix for tiles is in norms"),
        ("gpt2-small", {"mtp": True}, "gpt2-small has no multi-token-prediction modules"),
    ],
)
def test_what_a_model_has_nothing_of(name: str, question: dict[str, object], said: str) -> None:
    assert said in refusal_of(lambda: find(named(name), "weights.bytes", **question))


@given(descriptions(), st.sampled_from(TILED), st.integers(1, 30))
def test_no_generated_model_reads_more_than_it_holds(tree: Tree, scheme: str, ctx: int) -> None:
    model = load(tree)
    assume(not refusal_of(lambda: find(model, "intensity.prefill", ctx=ctx)))
    held = find(model, "weights.bytes", weights=scheme)
    made = report("intensity", model, weights=scheme, ctx=ctx)
    assert 0 < made.beneath["intensity.prefill.bytes"].value <= held
