"""What fits on GPUs: proved by what one more would need, and by public figures."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests.support.running import answer, data, find, get, named, refusal_of, report, run
from txcalc.accounts.fit import ACCOUNT
from txcalc.accounts.survey import devices
from txcalc.errors import TxcalcError
from txcalc.model.cut import group_sizes
from txcalc.sources.devices import load_device
from txcalc.workload.question import Question

GIB = 2**30
MODELS = ("llama-3.1-8b", "gemma-2-9b", "deepseek-v2-lite", "qwen3.5-27b", "nemotron-h-56b")
"""One dense, one with windows, one with latents, two with fixed states."""

named = cache(named)
device = cache(load_device)


def fit(name: str, **question: Any) -> dict[str, int | Fraction]:
    figures = report("fit", named(name), **{"dtype": "bf16"} | question).figures
    return {address.removeprefix("fit."): quantity.value for address, quantity in figures.items()}


def lead(name: str, **question: Any) -> list[str]:
    return ACCOUNT.make(named(name), Question(**{"dtype": "bf16"} | question)).lead


def needed(name: str, ctx: int, **question: Any) -> int | Fraction:
    """Bytes of one sequence's cache."""
    return find(named(name), "kvcache.sequence", dtype="bf16", ctx=ctx, **question)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("ctx", [1, 1000, 8192])
def test_one_more_would_not_fit(name: str, ctx: int) -> None:
    held = fit(name, kv_memory="5.25", ctx=ctx, requests=2)
    budget = Fraction("5.25") * GIB
    assert held["budget"] == budget
    assert held["sequences"] == budget // needed(name, ctx)
    longest = int(held["context"])
    assert 2 * needed(name, longest) <= budget < 2 * needed(name, longest + 1)
    assert held["missing"] == max(0, 2 * needed(name, ctx) - budget)


@pytest.mark.parametrize("name", MODELS)
def test_more_memory_never_fits_fewer(name: str) -> None:
    for engine in ("none", "vllm", "sglang", "llamacpp"):
        each = [
            fit(name, kv_memory=f"{sixteenths / 16}", ctx=3000, requests=3, engine=engine)
            for sixteenths in range(1, 60, 7)
        ]
        for address in each[-1]:
            if address.removeprefix("engine.") in ("sequences", "tokens", "context", "blocks"):
                held = [figures[address] for figures in each]
                assert held == sorted(held), address


@pytest.mark.parametrize("name", MODELS)
def test_a_longer_context_never_fits_more(name: str) -> None:
    for engine in ("vllm", "llamacpp"):
        each = [fit(name, kv_memory="4", ctx=n, engine=engine) for n in (1, 100, 5000, 9000, 40000)]
        for address in ("sequences", "engine.sequences"):
            held = [figures[address] for figures in each]
            assert held == sorted(held, reverse=True), address


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp"])
def test_an_engine_never_holds_more_than_the_bound(name: str, engine: str) -> None:
    held = fit(name, kv_memory="3.3", ctx=5000, requests=2, engine=engine)
    for address, value in held.items():
        bound = held.get(address.removeprefix("engine."))
        # SGLang's tokens are those of the layers that keep all of them, others have fewer
        is_beside = (engine, name, address) == ("sglang", "gemma-2-9b", "engine.tokens")
        assert bound is None or is_beside or value <= bound, address


def test_the_budget_is_a_subtraction() -> None:
    held = fit("llama-3.1-70b", device=device("h100-sxm"), count=4, overhead="3.5", engine="vllm")
    assert held["available"] == Fraction("79.18") * GIB * Fraction(9, 10) // 1
    assert held["overhead"] == Fraction("3.5") * GIB
    assert held["budget"] == held["available"] - held["loaded"] - held["overhead"]


def test_weights_that_do_not_fit_are_missing_too() -> None:
    held = fit("llama-3.1-70b", device=device("l4"), ctx=1024, requests=2)
    weights = find(named("llama-3.1-70b"), "weights.bytes", dtype="bf16")
    assert (held["budget"], held["sequences"], held["context"]) == (0, 0, 0)
    caches = 2 * needed("llama-3.1-70b", 1024)
    assert held["missing"] == weights + caches - held["available"]
    assert "The weights alone do NOT fit" in lead("llama-3.1-70b", device=device("l4"))[0]


def test_groups_have_requests_of_their_own() -> None:
    one = fit("llama-3.1-8b", kv_memory="4", ctx=4096, requests=3)
    two = fit("llama-3.1-8b", kv_memory="4", ctx=4096, requests=6, dp=2)
    assert two["sequences"] == 2 * one["sequences"]
    assert two["context"] == one["context"]


def test_the_stage_with_most_layers_binds() -> None:
    # github.com/vllm-project/vllm/pull/20665: 14 and 13 layers of a latent of 512 + 64.
    held = fit("deepseek-v2-lite", kv_memory="12.13", pp=2, stages="14,13", engine="vllm")
    assert held["tokens"] == Fraction("12.13") * GIB // (14 * 576 * 2)


def test_a_null_block_takes_from_the_requests_alone() -> None:
    # 16 tokens x 131,072 bytes = 2 MiB a block: 512 in 1 GiB, as vLLM prints; 511 for requests.
    asked = {"kv_memory": "1", "ctx": 16}
    vllm, sglang = (fit("llama-3.1-8b", **asked, engine=name) for name in ("vllm", "sglang"))
    assert (vllm["engine.blocks"], vllm["engine.tokens"]) == (512, 8192)
    assert (vllm["engine.sequences"], sglang["engine.sequences"]) == (511, 512)


@pytest.mark.parametrize(
    ("name", "tp", "gib", "tokens"),
    [("qwen3-8b", 1, "50.32", 366400), ("qwen3-32b", 2, "33.66", 275760),
     ("llama-3.1-70b", 4, "32.06", 420208)],
    ids=["T232", "T235", "T238"],
)  # fmt: skip
def test_tokens_in_spare_memory(name: str, tp: int, gib: str, tokens: int) -> None:
    # LMCache's documentation, "FAQ" (github.com/LMCache/LMCache/pull/1769): GiB called GB, to
    # two digits, so a token more or less for each 0.005 GiB of a GPU's share.
    held = fit(name, kv_memory=gib, tp=tp, engine="vllm")
    rounding = Fraction("0.005") * GIB / held["token"]
    assert abs(held["engine.tokens"] - tokens) <= rounding


@pytest.mark.parametrize(
    ("name", "elements"), [("deepseek-v2-lite", 15552), ("deepseek-v3", 70272 // 2)]
)
def test_a_token_of_latents(name: str, elements: int) -> None:
    # arXiv:2405.04434 table 1: 15.6K elements a token; arXiv:2412.19437: 61 x (512 + 64).
    assert [fit(name, kv_memory="8", tp=tp)["token"] for tp in (1, 8)] == [2 * elements] * 2


def test_not_fitting_is_an_answer() -> None:
    asked = ("llama-3.1-70b", "fit.sequences", "--device", "l4", "--exact")
    assert answer("get", *asked) == "0\n"
    assert run("fit", "llama-3.1-70b", "--device", "l4").code == 0


def ways(name: str, **question: Any) -> dict[str, tuple[Any, Any]]:
    """By what other options would be: requests that would fit, and the longest context."""
    report = ACCOUNT.make(named(name), Question(**{"dtype": "bf16"} | question))
    return {
        way.words: (way.requests.value, way.context and way.context.value) for way in report.ways
    }


@pytest.mark.parametrize("engine", ["none", "vllm", "sglang", "llamacpp"])
def test_the_ways_out_hold_what_they_say(engine: str) -> None:
    asked: dict[str, Any] = {"device": device("h100-sxm"), "count": 4, "ctx": 32768}
    asked |= {"requests": 40, "engine": engine}
    of = "engine." if engine != "none" else ""
    assert lead("llama-3.1-70b", **asked)[0].startswith("40 requests of 32,768 tokens do NOT fit: ")
    found = ways("llama-3.1-70b", **asked)
    for way, (requests, context) in found.items():
        options = dict(zip(way.split()[::2], way.split()[1::2], strict=False))
        change = {option.removeprefix("--"): value for option, value in options.items()}
        if "count" in change:
            change["count"] = int(change["count"])  # type: ignore[assignment]
        if not way.startswith("--"):
            change = {"ctx": int(way.split()[-1].replace(",", ""))}  # type: ignore[dict-item]
            assert lead("llama-3.1-70b", **asked | change)[0].startswith("40 requests")
            assert "NOT" not in lead("llama-3.1-70b", **asked | change)[0]
            assert "NOT" in lead("llama-3.1-70b", **asked | {"ctx": change["ctx"] + 1})[0]  # type: ignore[operator]
            continue
        held = fit("llama-3.1-70b", **asked | change)
        assert (requests, context) == (held[f"{of}sequences"], held[f"{of}context"])
    named_formats = " ".join(found)
    assert "--kv " in named_formats
    assert "--weights " in named_formats
    assert "--count 8" in found


def test_formats_are_tried_together_where_neither_is_enough() -> None:
    asked: dict[str, Any] = {"device": device("l4"), "ctx": 8192, "requests": 20}
    found = ways("gemma-2-9b", **asked, engine="llamacpp")
    alone = [
        held for way, (held, _) in found.items() if way.count("--") == 1 and "count" not in way
    ]
    assert max(alone) < 20 <= found["--weights Q4_K_M --kv q4_0"][0]


def test_a_verdict_is_about_the_engine() -> None:
    # A block holds 16 tokens: 4 GiB is 2,048 blocks of 2 MiB, one of them null.
    asked: dict[str, Any] = {"kv_memory": "4", "ctx": 16, "requests": 2048}
    assert lead("llama-3.1-8b", **asked)[0] == "2,048 requests of 16 tokens fit; 2,048 would."
    assert lead("llama-3.1-8b", **asked, engine="vllm")[0] == (
        "2,048 requests of 16 tokens do NOT fit in vllm: 2,047 fit, 2,048 by the bound."
    )


def test_weights_that_are_short_are_said_apart_from_the_cache() -> None:
    # arXiv:2407.21783: 70,553,706,496 parameters and 327,680 bytes a token, on 22.03 GiB.
    said = lead("llama-3.1-70b", device=device("l4"), ctx=131072)[0]
    assert said == (
        "The weights alone do NOT fit: 109.39 GiB short on each GPU, "
        "with the cache of 1 request 149.39 GiB."
    )


@pytest.mark.parametrize("name", ["llama-3.1-8b", "phi-4", "mixtral-8x7b", "deepseek-v3"])
def test_the_gpus_that_a_model_needs(name: str) -> None:
    listed = [device("l4"), device("h100-sxm"), device("mi300x")]
    asked: dict[str, Any] = {"ctx": 8192, "requests": 3, "dtype": "bf16"}
    figures = devices(named(name), Question(**asked), listed).figures
    for each in listed:
        for fmt in ("bf16", "fp8-channel", "awq-g128"):
            needed = figures[f"fit.gpus.{each.name}.{fmt}"].value
            for count in group_sizes(named(name), int(needed)):
                here = {"device": each, "weights": fmt, "count": count}
                if said := verdict(name, **asked, **here):
                    assert ("NOT" not in said) == (count == needed)


def verdict(name: str, **question: Any) -> str:
    """What leads an answer; nothing where the model cannot be divided so."""
    try:
        return lead(name, **question)[0]
    except TxcalcError:
        return ""


def test_the_models_that_a_device_holds() -> None:
    asked = ("--device", "rtx-4090", "--ctx", 4096, "--requests", 2, "--kv", "fp8")
    held = {
        (report["model"], row["address"].removeprefix("fit.models.")): row["value"]
        for report in data("fit", *asked)
        for row in report["rows"]
    }
    for name in ("llama-3.1-8b", "phi-4", "qwen3-32b", "mamba-130m", "gpt2-small"):
        for fmt in ("fp16", "fp8-channel", "awq-g128"):
            fits = get(name, "fit.sequences", *asked, "--weights", fmt)
            shown = fits if fits >= 2 and name not in ("gpt2-small", "mamba-130m") else None
            assert held.get((name, fmt)) == shown
    table = answer("fit", *asked)
    assert "phi-4, 4,096 tokens" in table
    assert "llama-3.1-70b" not in table


def test_no_model_that_fits_is_an_answer() -> None:
    ran = run("fit", "--device", "t4", "--ctx", "1Gi")
    assert (ran.code, ran.out.strip()) == (0, "")
    assert "no bundled model fits" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "fit needs a MODEL, a --device, or both"),
        (["--kv-memory", 2], "fit needs a MODEL, a --device, or both"),
        (["toy", "--tp", 2], "--tp is what is looked for without a --device"),
        (["toy", "--count", 2], "--count is what is looked for without a --device"),
        (["bert-base-uncased"], "encoder-only"),
        (["toy", "--explain"], "--explain is of one answer"),
        (["--device", "l4", "--explain"], "--explain is of one answer"),
        (["--device", "24GB"], "a YAML file describes another, and --kv-memory"),
    ],
)
def test_what_is_left_out_is_looked_for(words: list[object], said: str) -> None:
    ran = run("fit", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [((), "give --engine"), (("--engine", "llamacpp"), "llamacpp has none")],
)
def test_figures_of_an_engine_that_are_not_there(options: tuple[str, ...], said: str) -> None:
    ran = run("get", "llama-3.1-8b", "fit.engine.blocks", "--kv-memory", 4, *options)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--device", "h100-sxn"], "did you mean 'h100-sxm'"),
        (["--device", "l4", "--count", 3, "--tp", 2], "--count 3, but the layout has 2 GPUs"),
        (["--device", "l4", "--utilisation", 0], "a share above 0, at most 1"),
        (["--device", "l4", "--utilisation", "1.01"], "a share above 0, at most 1"),
        (["--device", "l4", "--utilisation", "most"], "plain decimals"),
        (["--device", "l4", "--overhead=-1"], "plain decimals"),
        (["--device", "l4", "--kv-memory", 2], "--device cannot stand beside it"),
        (["--kv-memory", 2, "--overhead", 1], "--overhead cannot stand beside it"),
        (["--kv-memory", 2, "--utilisation", "0.5"], "--utilisation cannot stand beside it"),
        (["--device", "l4", "--requests", 0], "--requests 0: a whole number from 1"),
        (["--device", "l4", "--stages", "16,16"], "2 stages, but --pp 1"),
        (["--device", "l4", "--tp", 4, "--dcp", 3], "take a divisor of it"),
    ],
)
def test_contradictory_options(words: list[object], said: str) -> None:
    ran = run("fit", "llama-3.1-8b", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_figure_needs_a_device() -> None:
    ran = run("get", "llama-3.1-8b", "fit.sequences")
    assert ran.code == 2
    assert "fit needs a --device, or --kv-memory" in ran.err


def test_heads_that_do_not_divide() -> None:
    why = refusal_of(lambda: fit("phi-4", device=device("h100-sxm"), count=4))
    assert "n_kv_heads 10 cannot be divided by 4 GPUs: 1, 2, 5, 10" in why


@pytest.mark.parametrize("command", ["memory", "fit"])
def test_a_context_beyond_the_models_own(command: str) -> None:
    device = ("--device", "h200") if command == "fit" else ()
    ran = run(command, "llama-3.1-8b", *device, "--ctx", 131073)
    assert ran.code == 0
    assert "ctx 131,073 is beyond its own context, 131,072" in ran.err
    many = ("--requests", 8) if command == "fit" else ()
    assert "beyond" not in run(command, "llama-3.1-8b", *device, *many, "--ctx", 131072).err


def test_a_longest_context_beyond_the_models_own() -> None:
    # 40 GiB hold 327,680 tokens of 131,072 bytes; arXiv:2407.21783: a context of 128K.
    ran = run("fit", "llama-3.1-8b", "--kv-memory", 40, "--ctx", 1000)
    assert ran.code == 0
    assert "the longest context that fits, 327,680, is beyond its own, 131,072" in ran.err


def test_the_longest_context_is_proved_by_two_evaluations() -> None:
    shown = answer("explain", "llama-3.1-8b", "fit.context", "--kv-memory", 4)
    # 2 x 32 layers x 8 heads x 128 channels x 2 bytes a token, and 2^32 bytes.
    assert "ctx 32,768: 4,294,967,296 < 4,294,967,297 bytes" in shown
    assert f"ctx 32,769: {32769 * 131072:,} >= 4,294,967,297 bytes" in shown
