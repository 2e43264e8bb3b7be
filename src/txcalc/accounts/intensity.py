"""How many FLOPs a pass does for each byte it moves."""

from __future__ import annotations

from collections.abc import Mapping

from txcalc.accounts import flops, kvcache
from txcalc.accounts.question import (
    ENCODER_ONLY,
    Question,
    beside_blocks,
    passes,
    position_warnings,
    refuse_partial,
)
from txcalc.errors import RefusedError
from txcalc.exact.counting import distinct
from txcalc.exact.quantity import ZERO, Letter, Quantity, product, total
from txcalc.model.model import Layers, Model
from txcalc.model.rows import Op, Weight
from txcalc.report.report import Figures, Report
from txcalc.workload.passes import Pass, Workload, per_multiply_add

CONVENTIONS = [
    "1 multiply-add = 2 FLOPs",
    "prefill, decode: FLOPs of products that read a weight, over those weights' bytes, read once",
    "all: all FLOPs, over weights, each product's input and output, cache read and entries written",
    "all: each moved once; score matrices and a recurrence's inputs stay on chip",
    "experts read in a pass of n tokens: their expected number, E(1-(1-k/E)^n)",
]


def account(model: Model, question: Question) -> Report:
    """Intensity of prefill and decode against weight traffic, and against all traffic."""
    refuse_partial(model)
    asked = question.prompt is not None
    name, length = ("prompt", question.prompt) if asked else ("ctx", question.ctx)
    prompt = question.length(model, name, length)
    prefill = question.workload(model, phase="prefill", ctx=prompt)
    figures, beneath = _phase(model, question, prefill)
    refused, warnings = {}, position_warnings(model, prompt, prefill.source)
    if model.has_decoder:
        decode = question.workload(model, phase="decode")
        decoded, below = _phase(model, question, decode)
        figures, beneath = figures | decoded, beneath | below
        warnings += position_warnings(model, decode.ctx) if decode.ctx != prompt else []
    else:
        refused = {
            f"{start}.decode": f"no decode: {ENCODER_ONLY}"
            for start in ("intensity", "intensity.all")
        }
    order = (
        "intensity.prefill",
        "intensity.decode",
        "intensity.all.prefill",
        "intensity.all.decode",
    )
    return Report(
        title="arithmetic intensity",
        model=model.name,
        source=model.source,
        figures=figures,
        shown=[address for address in order if address in figures],
        beneath=beneath,
        block_kinds=list(model.blocks),
        assumptions=_assumptions(model, question, prompt),
        conventions=CONVENTIONS,
        warnings=warnings,
        refused=refused,
    )


def _phase(model: Model, question: Question, workload: Workload) -> tuple[Figures, Figures]:
    """Both intensities of a phase, and what they are made of."""
    at = f"intensity.{workload.phase}"
    beneath: Figures = {}
    per_mac = per_multiply_add(macs=False, phase=workload.phase)
    by_stack = passes(model, workload)
    products: list[Quantity] = []
    weights, passed_on = [], []
    for rows, given in beside_blocks(model, by_stack).values():
        products += flops.matmuls(rows, given, per_mac).values()
        weights.append(_weights_read(rows, given, question.weight_bytes))
        passed_on.append(_products_moved(rows, given))
    everything = products[:]
    for kind in model.layers:
        given = by_stack[kind.stack]
        with_weight, without = flops.products(kind, given, per_mac)
        multiplied = total(with_weight.values(), "FLOPs")
        products.append(product(kind.count, multiplied))
        operated = total((multiplied, *without.values()), "FLOPs")
        everything.append(product(kind.count, operated))
        read = _weights_read(kind.rows, given, question.weight_bytes)
        weights.append(product(kind.sets, read))
        moved = _moved(kind, given)
        passed_on.append(product(kind.count, moved))
        beneath |= {
            f"{at}.block.{kind.name}.flops": multiplied,
            f"{at}.block.{kind.name}.bytes": read,
            f"{at}.block.{kind.name}.all_flops": operated,
            f"{at}.block.{kind.name}.elements": moved,
        }
    read_once = total(weights, "bytes")
    if not read_once.value:
        raise RefusedError(f"{model.name}: no intensity: no product reads a weight")
    activations = product(total(passed_on, "elements"), question.activation_bytes)
    traffic = total((read_once, activations, _cache_moved(model, question, workload)), "bytes")
    flops_read, all_flops = total(products, "FLOPs"), total(everything, "FLOPs")
    beneath |= {
        f"{at}.flops": flops_read,
        f"{at}.bytes": read_once,
        f"{at}.all_flops": all_flops,
        f"{at}.activations": activations,
        f"{at}.all_bytes": traffic,
    }
    figures = {at: flops_read / read_once, f"intensity.all.{workload.phase}": all_flops / traffic}
    return figures, beneath


def _weights_read(rows: Mapping[str, Weight], given: Pass, weight_bytes: Letter) -> Quantity:
    """Bytes of the weights that a pass multiplies, each read once."""
    read = (
        product(_copies_read(row, given), row.each)
        for row in rows.values()
        if row.use == "matmul" and given.streamed(row).value
    )
    return product(total(read, "").counted_as("parameters"), weight_bytes)


def _copies_read(row: Weight, given: Pass) -> Quantity:
    if row.used == row.copies:
        return row.copies
    return distinct(row.copies, row.used, given.tokens)


def _moved(kind: Layers, given: Pass) -> Quantity:
    """Elements that one layer's products read and write beside weights, cache and scores."""
    operations = kind.block.operations(kind.d_model).values()
    moved = [
        product(given.tokens, op.heads, given.widths(op)).counted_as("elements")
        for op in operations
        if isinstance(op, Op)
    ]
    if kind.stack == "encoder":
        states = kind.block.state(kind.d_model).values()
        moved += [product(given.tokens, state.width).counted_as("elements") for state in states]
    return total((_products_moved(kind.rows, given), *moved), "elements")


def _products_moved(rows: Mapping[str, Weight], given: Pass) -> Quantity:
    """Elements that go into and come out of products with a weight."""
    moved = (
        product(given.streamed(row), row.used, row.repeats, row.moved)
        for row in rows.values()
        if row.use == "matmul"
    )
    return total(moved, "").counted_as("elements")


def _cache_moved(model: Model, question: Question, workload: Workload) -> Quantity:
    """Bytes of the cache that a pass reads and adds."""
    if not model.has_decoder:
        return ZERO.counted_as("bytes")
    cache = kvcache.cache(model, workload, question.kv_bytes)
    written = [cache["kvcache.token"], cache["kvcache.fixed"]]
    if workload.phase == "prefill":
        written[0] = product(workload.ctx, written[0])
        written.append(cache["kvcache.cross"])
    return product(workload.batch, total((cache["kvcache.sequence"], *written), "bytes"))


def _assumptions(model: Model, question: Question, prompt: Letter) -> list[str]:
    own = " (the model's own)" if question.prompt is None and question.ctx is None else ""
    lines = [f"prompt {prompt.value:,}{own}"]
    if model.has_decoder:
        lines += kvcache.assumptions(model, question)
    formats = [f"weights {question.weights or question.dtype}", f"activations {question.dtype}"]
    return [*lines, f"batch {question.batch}", *formats]
