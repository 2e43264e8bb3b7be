"""Formats as lists of pieces: against tiles counted one by one, and against real tensors."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txcalc.errors import OptionError
from txcalc.exact.emit import compiled
from txcalc.exact.printing import symbolic
from txcalc.exact.quantity import Letter, const
from txcalc.workload.chosen import chosen_cache, chosen_weights
from txcalc.workload.formats import NUMBERS, Format, Piece, size
from txcalc.workload.gguf import BLOCKS
from txcalc.workload.schemes import CACHE_ONLY, SCHEMES

GROUPS = [f"{family}{n}" for family in ("gptq-g", "awq-g", "int4-g", "mlx-4-g") for n in (32, 128)]
ALL = [*NUMBERS, *SCHEMES, *GROUPS]

sides = st.one_of(st.none(), st.integers(1, 9))
lengths = st.integers(1, 40)


def named(name: str) -> Format:
    """A format by the name that a role or a row of state has."""
    if name in CACHE_ONLY:
        return CACHE_ONLY[name]
    return chosen_weights(f"ffn={name}", "fp16").named["ffn"]


def held(name: str, outputs: int, inputs: int) -> int | Fraction:
    return named(name).bytes(const(outputs), const(inputs)).value


@given(st.integers(1, 20), sides, sides, lengths, lengths)
def test_a_piece_counts_each_started_tile(
    bytes_: int, rows: int | None, columns: int | None, outputs: int, inputs: int
) -> None:
    tiles = {
        (row // (rows or outputs), column // (columns or inputs))
        for row in range(outputs)
        for column in range(inputs)
    }
    made = Piece(bytes_, rows, columns).held(const(outputs), const(inputs))
    assert made.value == bytes_ * len(tiles)
    assert made.unit == "bytes"


@given(st.integers(1, 70), lengths, lengths)
def test_a_flat_piece_runs_through_the_rows(columns: int, outputs: int, inputs: int) -> None:
    elements = range(outputs * inputs)
    tiles = {element // columns for element in elements}
    made = Piece(4, 1, columns, flat=True).held(const(outputs), const(inputs))
    assert made.value == 4 * len(tiles)


@pytest.mark.parametrize("name", ALL)
def test_a_formula_computes_what_it_says(name: str) -> None:
    rows, columns = Letter(100, "rows", "rows"), Letter(999, "columns", "columns")
    made = named(name).bytes(rows, columns)
    function = compiled(made, ["r", "c"], {"rows": "r", "columns": "c"})
    assert "rows" in symbolic(made)
    for outputs, inputs in ((100, 999), (128, 256), (1, 1), (129, 33)):
        assert function(outputs, inputs) == held(name, outputs, inputs)


@pytest.mark.parametrize(
    ("name", "outputs", "inputs", "stored"),
    [
        # gguf-py 0.19.0: the offsets of tensors in a file that it wrote.
        ("q8_0", 256, 64, 17408),
        ("q8_0", 64, 64, 22272 - 17920),
        ("q8_0", 32, 64, 24448 - 22272),
        ("q8_0", 64, 128, 39936 - 31232),
        # huggingface.co/deepseek-ai/DeepSeek-V3: kv_a_proj_with_mqa, weight and weight_scale_inv.
        ("fp8-128x128", 576, 7168, 576 * 7168 + 4 * 5 * 56),
        # The tensors of one linear layer of AutoGPTQ, and of AutoAWQ.
        ("gptq-g128", 1024, 4096, 4 * (512 * 1024 + 32 * 128 + 4096) + 2 * 32 * 1024),
        ("awq-g128", 1024, 4096, 4 * (4096 * 128 + 32 * 128) + 2 * 32 * 1024),
        # arXiv:2305.14314 section 3: 0.373 bits of scales a parameter are saved, 0.5 to 0.127.
        ("bnb-nf4", 4096, 4096, 2**24 * (4 + Fraction(1, 2)) / 8 + 64),
        ("bnb-nf4-dq", 4096, 4096, 2**24 * (4 + Fraction(1, 8) + Fraction(1, 512)) / 8 + 1088),
        # A token of sparse latent attention: vllm, flashmla_sparse; and of its indexer.
        ("fp8-128", 1, 512, 656 - 2 * 64),
        ("fp8-128", 1, 128, 132),
    ],
)  # fmt: skip
def test_bytes_of_real_tensors(name: str, outputs: int, inputs: int, stored: int) -> None:
    assert held(name, outputs, inputs) == stored


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        # github.com/ggml-org/llama.cpp, tools/quantize: bits of one weight of each type.
        ("q4_0", "4.5"), ("q4_1", "5.0"), ("q5_0", "5.5"), ("q5_1", "6.0"), ("q8_0", "8.5"),
        ("q2_k", "2.625"), ("q3_k", "3.4375"), ("q4_k", "4.5"), ("q5_k", "5.5"),
        ("q6_k", "6.5625"), ("q1_0", "1.125"),
        # OCP Microscaling v1.0: a scale of 8 bits for 32 elements of 4.
        ("mxfp4", "4.25"),
        # github.com/ml-explore/mlx: 4 bits, and a scale and a bias of 16 bits for each group.
        ("mlx-4-g64", "4.5"),
        # github.com/turboderp-org/exllamav2/issues/3: 16 bits of scale and 4 of zero.
        ("awq-g32", "4.625"),
    ],
)  # fmt: skip
def test_bits_of_an_element(name: str, bits: str) -> None:
    assert Fraction(held(name, 4096, 4096)) * 8 / 4096**2 == Fraction(bits)


@pytest.mark.parametrize("formats", [NUMBERS, BLOCKS, CACHE_ONLY])
def test_formats_are_listed_under_their_names(formats: dict[str, Format]) -> None:
    assert all(fmt.name == name and fmt.source for name, fmt in formats.items())
    assert all(scheme.name == name and scheme.format.source for name, scheme in SCHEMES.items())


def test_a_number_is_one_piece_of_one_element() -> None:
    for name, fmt in NUMBERS.items():
        assert size(name, "b", "elements").value == fmt.bytes(const(1), const(1)).value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fp9", "unknown number format 'fp9'; did you mean 'fp8'"),
        ("gptq-128", "did you mean 'gptq-gN'"),
        ("gptq-g0", "did you mean 'gptq-gN'"),
        ("gptq-g", "did you mean 'gptq-gN'"),
        ("awq-g9999999", "did you mean 'awq-gN'"),
        ("fp8-128", "did you mean"),
        ("q4_0", "'q4_0' is a block type of GGUF: name a role with it (ffn=q4_0), or choose a mix"),
        ("fp8,bf16", "'bf16' is no NAME=FMT"),
        ("ffn=fp8,ffn=bf16", "'ffn' is named twice"),
        ("ffn=fp9", "did you mean 'fp8'"),
        ("", "unknown number format ''"),
    ],
)
def test_what_weights_are_not_held_in(text: str, said: str) -> None:
    with pytest.raises(OptionError) as refused:
        chosen_weights(text, "fp16")
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"--weights {text}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Q8_0", "did you mean 'q8_0'"),
        ("fp8-channel", "unknown number format 'fp8-channel'; known: fp32"),
        ("keys=fp8-128x128", "did you mean 'fp8-128'"),
        ("keys=q4_0,values", "'values' is no NAME=FMT"),
    ],
)
def test_what_no_cache_is_held_in(text: str, said: str) -> None:
    with pytest.raises(OptionError) as refused:
        chosen_cache(text, "fp16")
    assert said in str(refused.value)
