"""The engine of a page against Python: every figure, digit for digit, and every refusal."""

from __future__ import annotations

import pytest

from tests.support.engine import Setting, check, context, data_of, in_engine, settings
from tests.support.running import BUNDLED
from txcalc.exact.program import OPERATIONS
from txcalc.exact.quantity import LARGEST

PLAIN = {"weights": "fp16", "kv": "fp16", "dtype": "fp16", "batch": 1, "prompt": 20, "new": 100}
FOUR = ("gpt3", "gpt2-small", "deepseek-v3", "gemma-3-27b-text")


def test_the_engine_knows_every_operation() -> None:
    known = context().eval("Object.keys(Engine.OPERATIONS).join()").split(",")
    assert {*known, "input", "bound", "first"} == set(OPERATIONS)


@pytest.mark.parametrize("name", FOUR)
def test_the_figures_of_random_settings(name: str) -> None:
    assert sum(check(name, setting) for setting in settings(name, 1, 4)) > 100


@pytest.mark.parametrize("name", BUNDLED[::16])
def test_the_figures_of_bundled_models(name: str) -> None:
    check(name, settings(name, 2, 1)[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUR)
def test_the_figures_of_many_random_settings(name: str) -> None:
    assert sum(check(name, setting) for setting in settings(name, 3, 250)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", BUNDLED)
def test_the_figures_of_every_bundled_model(name: str) -> None:
    for setting in settings(name, 4, 6):
        check(name, setting)


@pytest.mark.parametrize(
    ("name", "sizes", "options"),
    [
        ("mixtral-8x7b", {"top_k": 8}, {"batch": 3}),
        ("mixtral-8x7b", {"top_k": 1, "n_experts": LARGEST}, {"batch": 70, "prompt": LARGEST}),
        ("deepseek-v3", {"n_layers": 3}, {}),
        ("gemma-3-27b-text", {"n_layers": 5}, {"ctx": 100}),
        ("gemma-3-27b-text", {"window": LARGEST}, {"ctx": LARGEST, "new": LARGEST}),
        ("gpt3", {"d_ff": LARGEST, "vocab": LARGEST}, {"batch": LARGEST}),
        ("gpt3", {}, {"weights": "int4", "kv": "int4"}),
    ],
)
def test_the_figures_at_the_edges(
    name: str, sizes: dict[str, int], options: dict[str, object]
) -> None:
    own = {letter: int(value) for letter, value in data_of(name)["question"].items()}
    assert check(name, Setting(sizes, {**PLAIN, **own, **options})) > 100


@pytest.mark.parametrize(
    ("name", "sizes", "said"),
    [
        ("gpt3", {"n_heads": 100}, "d_model 12288 is no multiple of n_heads 100: state head_dim"),
        ("llama-3.1-8b", {"n_kv_heads": 5}, "n_heads 32 is no multiple of n_kv_heads 5: each KV"),
        ("mixtral-8x7b", {"top_k": 9}, "top_k 9 is above n_experts 8: a token cannot use more"),
        ("deepseek-v3", {"n_layers": 2}, "2 is below the 3 of first and last"),
    ],
)
def test_a_refusal_is_that_of_python(name: str, sizes: dict[str, int], said: str) -> None:
    setting = Setting(sizes, PLAIN)
    assert not check(name, setting)
    assert said in in_engine(name, setting).problems[0][1]


def test_figures_that_need_a_growing_cache_go_with_it() -> None:
    setting = Setting({"n_layers": 3}, {**PLAIN, "ctx": 100})
    [(account, message)] = in_engine("jamba-v0.1", setting).problems
    assert account == "concurrency"
    assert message == "no concurrency: no token adds to what a sequence keeps"
    assert check("jamba-v0.1", setting)
