"""Time at best: published figures, hand numbers, and laws over models, layouts and devices."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.counting import Tree
from tests.support.describing import descriptions, layer
from tests.support.running import answer, data, find, load, named, refusal_of, report, run
from txcalc.accounts.operations import Operation
from txcalc.accounts.rates import Rates
from txcalc.accounts.step import Components
from txcalc.errors import TxcalcError
from txcalc.exact.quantity import Quantity, const
from txcalc.model.model import Model
from txcalc.sources.devices import load_device
from txcalc.workload.device import Device
from txcalc.workload.question import Question

named = cache(named)
H100 = load_device("h100-sxm")
PARTS = ("flops", "bytes", "time")

sizes = st.integers(1, 9)
rates = st.integers(1, 5000)
devices = st.builds(
    lambda peak, gbps, link: machine(peak, gbps, link=link), rates, rates, rates
)  # fmt: skip


def machine(tflops: Any, gbps: Any, link: Any = 100) -> Device:
    return Device(
        name="one",
        source="",
        memory_gib=Fraction(80),
        bandwidth_gbps=Fraction(gbps),
        dense_tflops={"bf16": Fraction(tflops)},
        links_gbps={"link": Fraction(link)},
    )


def figures(model: Model, **question: Any) -> dict[str, int | Fraction]:
    asked = {"dtype": "bf16", "device": H100, **question}
    answered = report("roofline", model, **asked).figures
    return {name.removeprefix("roofline."): each.value for name, each in answered.items()}


def decode(name: str, **question: Any) -> dict[str, int | Fraction]:
    answered = figures(named(name), **{"ctx": 4096, **question})
    return {
        n.removeprefix("decode."): v for n, v in answered.items() if n.startswith("decode.")
    }  # fmt: skip


# Published figures


def test_ridge_of_an_a100_t199() -> None:
    # kipply/blog transformer_inference_arithmetic.md: 312e12 / 1.5e12
    question = Question(dtype="bf16", device=machine(312, 1500))
    assert Rates(question, "roofline").ridge.value == 208


def test_forward_flops_of_52b_t201() -> None:
    # The same page: 2 x 12 x n_layers x d_model^2 for 64 layers of 8,192, without scores.
    attention, ffn = {"kind": "mha", "n_heads": 64}, {"kind": "plain", "d_ff": 32768}
    tree = layer(8192, attention=attention, ffn=ffn)
    tree["layers"]["count"] = 64
    model = load(tree)
    assert find(model, "flops.blocks", scores="none", ctx=1) == 103_079_215_104


def test_a_small_batch_of_260b_on_16_gpus_t202() -> None:
    # The same page: 2 x 260e9 bytes over 16 x 1.5e12 bytes/s, which it rounds to 22 ms.
    made = Rates(Question(dtype="bf16", device=machine(312, 1500)), "roofline")
    weights = const(Fraction(2 * 260 * 10**9, 16), "bytes")
    time = made.time(const(2 * 260 * 10**9 // 16, "FLOPs"), weights)
    assert time.unit == "seconds"
    assert round(time.value * 1000) == 22


def test_the_sum_over_operations_t222() -> None:
    # jax-ml/scaling-book, "Pop quiz": 30e9 int8 parameters and 256 caches of 819e6 bytes on
    # 16 chips of 197 TFLOP/s and 810 GB/s: 21 ms; the larger of the sums would be 18.5 ms.
    made = Rates(Question(dtype="bf16", device=machine(16 * 197, 16 * 810)), "roofline")
    products = _operation("ffn", 2 * 256 * 30 * 10**9, 30 * 10**9)
    caches = _operation("scores", 0, 256 * 819 * 10**6)
    step = Components([products, caches], made)
    assert round(float(step.time.value), 7) == 0.0210509
    assert round(float(step.floor.value), 4) == 0.0185


def _operation(component: str, flops: int, bytes_: int) -> Operation:
    moved = const(bytes_, "bytes")
    return Operation(component=component, flops=const(flops, "FLOPs"), read=moved, bytes=moved)


# By hand


@pytest.mark.parametrize(
    ("name", "batch"), [("llama-3.1-8b", 296), ("mixtral-8x7b", 1080), ("deepseek-v3", 5405)]
)
def test_critical_batches_by_hand(name: str, batch: int) -> None:
    # Ridge 295.37 x weights stored over weights used, every expert being reached.
    assert decode(name)["critical_batch"] == batch
    assert Fraction(figures(named(name), ctx=1)["ridge"]) == Fraction(989500, 3350)


def test_a_whole_step_that_is_never_bound_by_the_peak() -> None:
    said = refusal_of(
        lambda: find(
            named("llama-3.1-8b"), "roofline.decode.critical_batch_all", ctx=4096, device=H100
        )
    )
    assert "never: tends to 31.59 FLOPs/byte" in said


@pytest.mark.parametrize("name", ["llama-3.1-8b", "mixtral-8x7b", "deepseek-v3", "jamba-v0.1"])
@pytest.mark.parametrize("kv", ["fp8", "q4_0"])
def test_the_sums_are_those_of_intensity(name: str, kv: str) -> None:
    asked = {"ctx": 3000, "batch": 5, "kv": kv, "dtype": "bf16", "weights": "int8"}
    whole = report("intensity", named(name), **asked).beneath
    step = figures(named(name), **asked)
    for phase in ("prefill", "decode"):
        assert step[f"{phase}.flops"] == whole[f"intensity.{phase}.all_flops"].value
        assert step[f"{phase}.bytes"] == whole[f"intensity.{phase}.all_bytes"].value


def test_mixtral_reads_more_than_its_active_experts() -> None:
    # At batch 64 every expert is read: charging active ones alone is 2.1 times too fast with
    # caches of 4,096 tokens, and 3.6 times with next to none.
    model = named("mixtral-8x7b")
    params = report("params", model).figures
    unused = 2 * (params["params.total"].value - params["params.active"].value)
    for ctx, factor in ((4096, 2.1), (1, 3.6)):
        moved = decode("mixtral-8x7b", batch=64, ctx=ctx)["bytes"]
        assert round(float(moved / (moved - unused)), 1) == factor
    alone, many = (
        report("intensity", model, batch=n, ctx=1).beneath["intensity.decode.bytes"].value
        for n in (1, 10**6)
    )
    assert alone == many - unused


def test_an_all_reduce_for_each_sub_layer() -> None:
    # arXiv:1909.08053 section 3: two in each layer, each of 2(n-1)/n of tokens x d_model; beside
    # them one of the table, and the logits are gathered.
    sent = decode("llama-3.1-70b", tp=4, batch=30)
    assert sent["communication.all_reduce.count"] == 80 * 2 + 1
    assert sent["communication.all_reduce"] == 161 * Fraction(2 * 3, 4) * 30 * 8192 * 2
    assert sent["communication.logits"] == Fraction(3, 4) * 30 * 128256 * 2
    assert sent["communication"] * 450 * 10**9 == (
        sent["communication.all_reduce"] + sent["communication.logits"]
    )


def test_sub_layers_side_by_side_share_an_all_reduce() -> None:
    counts = {}
    for placement in ("pre", "parallel"):
        attention, ffn = {"kind": "mha", "n_heads": 4}, {"kind": "plain", "d_ff": 64}
        model = load(layer(placement=placement, norm="rms", attention=attention, ffn=ffn))
        made = figures(model, ctx=8, tp=2)
        counts[placement] = made["decode.communication.all_reduce.count"]
    assert counts == {"pre": 3, "parallel": 2}


def test_tokens_to_experts_and_back() -> None:
    # deepseek-v3: 58 layers with 8 of 256 experts a token, each token to the 15 other GPUs of 16.
    sent = decode("deepseek-v3", dp=16, ep=True, batch=160)
    assert sent["communication.experts.count"] == 2 * 58
    assert sent["communication.experts"] == 2 * 58 * Fraction(15, 16) * 10 * 8 * 7168 * 2
    assert sent["communication.all_reduce"] == 0


def test_stages_follow_one_another_for_a_token_and_not_for_all() -> None:
    one, four = decode("llama-3.1-70b", batch=8), decode("llama-3.1-70b", batch=8, pp=4)
    for part in PARTS:
        assert four[part] == one[part]
    assert four["communication.stages"] == 3 * 8 * 8192 * 2
    assert four["tokens_per_s"] < one["tokens_per_s"]
    assert 3 * one["tokens_per_s.all"] < four["tokens_per_s.all"] < 4 * one["tokens_per_s.all"]


def test_formats_of_products() -> None:
    a100 = load_device("a100-80gb")
    slow = decode("llama-3.1-8b", device=a100, compute="fp8", batch=512)
    assert slow["time"] == decode("llama-3.1-8b", device=a100, batch=512)["time"]
    narrow = decode("llama-3.1-8b", compute="fp8", batch=512, weights="awq-g128")
    assert narrow["flops"] == decode("llama-3.1-8b", batch=512)["flops"]
    out = answer("roofline", "llama-3.1-8b", "--device", "a100-80gb", "--compute", "fp8")
    assert "products in bf16 (a100-80gb has no fp8)" in " ".join(out.split())
    only = decode("llama-3.1-8b", dtype="fp16", device=machine(100, 1000))
    assert only["time"] == decode("llama-3.1-8b", device=machine(100, 1000))["time"]


def test_what_is_reached_scales_time() -> None:
    best = decode("llama-3.1-8b", batch=400)
    half = decode("llama-3.1-8b", batch=400, efficiency="0.5")
    assert half["time"] == 2 * best["time"]
    assert decode("llama-3.1-8b", batch=400, mfu="0.5", mbu="0.5")["time"] == half["time"]
    assert decode("llama-3.1-8b", mfu="0.5")["time"] == decode("llama-3.1-8b")["time"]


def test_the_price_of_a_million_tokens() -> None:
    cost = decode("llama-3.1-8b", batch=16, price="3.60", tp=2)
    assert cost["price"] == Fraction(2, 1000) * 10**6 / cost["tokens_per_s.all"]


def test_sequences_that_do_not_fit_are_warned_about() -> None:
    line = ("roofline", "llama-3.1-8b", "--device", "h100-sxm", "--ctx", "4Ki", "--batch", 1000)
    fitting = find(named("llama-3.1-8b"), "fit.sequences", device=H100, ctx=4096)
    assert f"1,000 sequences of 4,096 tokens do not fit: {fitting} do" in run(*line).err
    assert run(*line[:-1], fitting).err == ""


def test_never_is_null_with_its_reason() -> None:
    options = ("--device", "h100-sxm", "--ctx", "4Ki")
    [made] = data("roofline", "llama-3.1-8b", *options)
    [row] = [r for r in made["rows"] if r["address"] == "roofline.decode.critical_batch_all"]
    assert (row["value"], row["reason"]) == (None, "never: tends to 31.59 FLOPs/byte")
    assert "never: tends to 31.59" in answer("roofline", "llama-3.1-8b", *options)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("roofline llama-3.1-8b", "roofline needs a --device"),
        ("roofline llama-3.1-8b --device h1000", "no bundled device and no file 'h1000'"),
        ("roofline llama-3.1-8b --device v100 --link ici", "v100 has no link 'ici'; it has nvlink"),
        ("roofline llama-3.1-8b --device tpu-v4 --dtype fp32", "no dense peak 'fp32'; it has bf16"),
        ("roofline llama-3.1-8b --device l4 --mfu 0", "--mfu 0: a share above 0, at most 1"),
        ("roofline llama-3.1-8b --device l4 --mbu 1.5", "--mbu 1.5: a share above 0, at most 1"),
        ("roofline llama-3.1-8b --device l4 --efficiency -1", "--efficiency -1: a number in plain"),
        ("roofline llama-3.1-8b --device l4 --efficiency 1 --mfu 1", "--efficiency is of both"),
        ("roofline llama-3.1-8b --device l4 --price 0", "--price 0: US dollars of a GPU hour"),
        ("roofline llama-3.1-8b --device l4 --compute q4_0", "'q4_0' is not one of 'fp32', 'tf32'"),
        ("roofline llama-3.1-8b --device l4 --dp 4", "--batch 1: at least one sequence for each"),
        ("get roberta-base roofline.decode.time --device l4", "no decode: an encoder-only model"),
    ],
)
def test_what_cannot_be_asked(line: str, said: str) -> None:
    words = [*line.split(), "--tp", "2"] if "--link" in line else line.split()
    ran = run(*words)
    assert (ran.code, ran.out) == (2, "")
    assert said in " ".join(ran.err.replace("│", " ").split())


# Laws


@settings(max_examples=2 * settings().max_examples)
@given(descriptions(), devices, sizes, sizes)
def test_time_is_above_its_floor_and_that_above_either_bound(
    tree: Tree, device: Device, ctx: int, batch: int
) -> None:
    made = _figures(tree, device=device, ctx=ctx, batch=batch)
    peak, bandwidth = device.peak("bf16"), device.bandwidth
    for name in [name.removesuffix(".floor") for name in made if name.endswith(".floor")]:
        floor = made[f"{name}.floor"]
        assert made[f"{name}.time"] >= floor
        assert floor >= made[f"{name}.flops"] / peak
        assert floor >= made[f"{name}.bytes"] / bandwidth
    for phase in ("prefill", "decode"):
        if f"{phase}.time" in made:
            assert made[f"{phase}.communication"] == 0
            assert made[f"{phase}.time_with_communication"] == made[f"{phase}.time"]


@given(descriptions("decoder"), devices, sizes, sizes, st.sampled_from(["peak", "memory", "link"]))
def test_what_is_faster_never_slows(
    tree: Tree, device: Device, ctx: int, factor: int, what: str
) -> None:
    asked = {"ctx": ctx, "batch": 2, "tp": 2}
    if _refused(tree, device=device, **asked):
        asked["tp"] = 1
    rates = [device.dense_tflops["bf16"], device.bandwidth_gbps, device.links_gbps["link"]]
    rates[("peak", "memory", "link").index(what)] *= 1 + factor
    slow, fast = (_figures(tree, device=d, **asked) for d in (device, machine(*rates)))
    for name, time in slow.items():
        if name.endswith((".time", ".floor", ".time_with_communication", ".communication")):
            assert fast[name] <= time, name


@given(descriptions("decoder"), devices, sizes, sizes, sizes)
def test_a_larger_batch_never_lowers_the_tokens_of_all_nor_shortens_a_step(
    tree: Tree, device: Device, ctx: int, batch: int, more: int
) -> None:
    few, many = (
        _figures(tree, device=device, ctx=ctx, batch=n) for n in (batch, batch + more)
    )  # fmt: skip
    assert many["decode.tokens_per_s.all"] >= few["decode.tokens_per_s.all"]
    assert many["decode.time"] >= few["decode.time"]


@given(descriptions("decoder"), devices, st.integers(1, 5), st.integers(1, 3))
def test_a_causal_prefill_takes_no_longer_than_its_steps(
    tree: Tree, device: Device, tokens: int, batch: int
) -> None:
    asked = {"device": device, "batch": batch, "scores": "causal", "mla": "expanded"}
    prefill = _figures(tree, ctx=tokens, **asked)["prefill.time"]
    steps = [_figures(tree, ctx=t, **asked)["decode.time"] for t in range(1, tokens + 1)]
    assert prefill <= sum(steps)


@given(descriptions("decoder"), devices, sizes)
def test_turning_points_have_their_condition_on_either_side(
    tree: Tree, device: Device, ctx: int
) -> None:
    asked = {"device": device, "ctx": ctx}
    made = _figures(tree, **asked)
    for name, address in (("critical_batch", "decode"), ("critical_batch_all", "all.decode")):
        batch = int(made.get(f"decode.{name}", 0))
        for n, reaches in ((batch, True), (batch - 1, False)):
            if n > 0:
                per_byte = find(load(tree), f"intensity.{address}", ctx=ctx, batch=n, dtype="bf16")
                assert (per_byte >= made["ridge"]) == reaches
    length = int(made.get("decode.cache_context", 0))
    for n, reaches in ((length, True), (length - 1, False)):
        if n > 0:
            cache = find(load(tree), "kvcache.sequence", ctx=n)
            assert (cache >= find(load(tree), "weights.bytes")) == reaches


@given(st.integers(1, 40))
def test_distinct_experts_are_between_those_of_one_token_and_all(batch: int) -> None:
    model = named("mixtral-8x7b")
    kind = model.layers[0]
    [up] = [row for name, row in kind.weights.items() if name == "ffn.up"]
    read = report("intensity", model, batch=batch, ctx=1).beneath
    experts = read["intensity.decode.bytes"].value - _others_read(model)
    copies = Fraction(experts) / (32 * 3 * 2 * up.each.value)
    assert 2 <= copies <= min(8, 2 * batch)


def _others_read(model: Model) -> int | Fraction:
    """Bytes of the weights that are read once whatever the batch is."""
    kept = {
        row.address: row
        for row in model.rows
        if row.role in ("attention", "router", "head") and not isinstance(row.declared, Quantity)
    }
    total: int | Fraction = 0
    for row in kept.values():
        use = getattr(row.declared, "use", None)
        if use == "matmul":
            times = 1 if row.layers is None else row.layers.count.value
            total += times * 2 * row.declared.each.value  # type: ignore[union-attr]
    return total


def _figures(tree: Tree, **question: Any) -> dict[str, int | Fraction]:
    """The figures of a description that has a roofline."""
    try:
        return figures(load(tree), **question)
    except TxcalcError as error:
        assume("no product reads a weight" not in str(error))
        raise


def _refused(tree: Tree, **question: Any) -> str:
    return refusal_of(lambda: figures(load(tree), **question))
