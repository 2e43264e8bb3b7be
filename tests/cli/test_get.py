"""``get``: one number and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.support.running import answer, run

EXACT = [
    ("gpt2-small", "params.total", [], "124439808"),
    ("gpt3", "intensity.decode", [], "1"),
    ("gpt3", "params.head", [], "0"),
    ("toy", "generation.tokens.ratio", ["--prompt", 5, "--new", 12], "10.5"),
    ("gpt2-small", "generation.tokens.ratio", [], "69.5"),
]


@pytest.mark.parametrize(("model", "address", "options", "text"), EXACT)
def test_integers_are_plain_digits_and_others_the_shortest_decimal(
    model: str, address: str, options: list[object], text: str
) -> None:
    assert answer("get", model, address, *options) == f"{text}\n"


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("gpt3", "concurrency.ratio"),
        ("gpt2-small", "generation.flops.ratio"),
        ("toy", "intensity.all.prefill"),
        ("gpt2-xl", "generation.with_prefill.tokens.ratio"),
        ("bart-base", "intensity.all.prefill"),
    ],
)
def test_a_decimal_reads_back_as_the_float_of_the_exact_value(model: str, address: str) -> None:
    shown = answer("get", model, address).removesuffix("\n")
    exact = answer("get", model, address, "--exact").removesuffix("\n")
    numerator, _, denominator = exact.partition("/")
    value = Fraction(int(numerator), int(denominator))
    assert denominator != "1"
    assert value.denominator == int(denominator)
    assert float(shown) == float(value)
    assert shown == repr(float(value))


def test_what_no_float_holds_has_17_digits() -> None:
    """329,600 parameters over 10^400 - 1, a number whose float is 0."""
    tiny = f"params.total/{'9' * 400}"
    assert answer("get", "toy", tiny) == "3.296e-395\n"
    assert "= 3.296e-395 parameters" in answer("explain", "toy", tiny)
    swept = answer("sweep", "toy", tiny, "--over", "vocab=1000,1001", "--format", "csv")
    assert swept.splitlines()[1] == "1000,3.296e-395"


def test_half_bytes_are_exact() -> None:
    assert answer("get", "toy", "kvcache.token", "--kv", "int4") == "256\n"
    odd = ("--set", "d_model=1", "--set", "n_heads=1", "--set", "n_layers=1")
    assert answer("get", "toy", "weights.bytes", *odd, "--weights", "int4", "--exact") == (
        f"{Fraction(1000 + 1024 + (4 + 4) + (2 * 256 + 257) + 4 + 2, 2)}\n"
    )


def test_a_warning_stays_off_the_number() -> None:
    ran = run("get", "toy", "kvcache.sequence", "--ctx", 2000)
    assert ran.out == f"{2000 * 1024}\n"
    assert ran.err.startswith("txcalc: warning: toy: ctx 2,000")
