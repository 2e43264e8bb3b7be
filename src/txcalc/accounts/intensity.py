"""How many FLOPs a pass does for each byte it moves."""

from __future__ import annotations

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.fold import (
    flops,
    keeping,
    over_all,
    run,
    stored,
    sums,
)
from txcalc.accounts.setting import ENCODER_ONLY, Setting
from txcalc.accounts.storage import Storage
from txcalc.accounts.traffic import of_state, passed, read
from txcalc.errors import RefusedError
from txcalc.exact.quantity import Quantity, product, total
from txcalc.model.model import Model
from txcalc.model.rows import Weight
from txcalc.report.report import Figures, Report
from txcalc.workload.passes import Workload, per_multiply_add
from txcalc.workload.question import Question

CONVENTIONS = [
    "1 multiply-add = 2 FLOPs",
    "prefill, decode: FLOPs of products that read a weight, over those weights' bytes, read once",
    "all: all FLOPs, over weights, each product's input and output, cache read and entries written",
    "all: each moved once; score matrices and a recurrence's inputs stay on chip",
    "experts read in a pass of n tokens: their expected number, E(1-(1-k/E)^n)",
]
_ORDER = ("intensity.prefill", "intensity.decode", "intensity.all.prefill", "intensity.all.decode")


def report(model: Model, question: Question) -> Report:
    """Intensity of prefill and decode against weight traffic, and against all traffic."""
    setting = Setting(model, question)
    setting.refuse_partial()
    prompt = setting.prompt
    prefill = setting.workload("prefill", prompt)
    figures, beneath = _phase(setting, prefill)
    refused, warnings = {}, setting.warnings(prompt, prefill.source)
    lines = [setting.stated(prompt, "prompt")]
    if model.has_decoder:
        decode = setting.workload("decode")
        decoded, below = _phase(setting, decode)
        figures, beneath = figures | decoded, beneath | below
        warnings += setting.warnings(decode.ctx) if decode.ctx != prompt else []
        lines += kvcache.assumptions(setting, decode)
    else:
        why = f"no decode: {ENCODER_ONLY}"
        refused = {"intensity.decode": why, "intensity.all.decode": why}
    formats = [weights.in_format(model, question), f"activations {question.dtype}"]
    return Report(
        title="arithmetic intensity",
        figures=figures,
        shown=[address for address in _ORDER if address in figures],
        beneath=beneath,
        assumptions=[*lines, f"batch {question.batch}", *formats],
        conventions=[*CONVENTIONS, *weights.conventions(model, question)],
        warnings=[*weights.warnings(model, question), *warnings],
        refused=refused,
    )


def _phase(setting: Setting, workload: Workload) -> tuple[Figures, Figures]:
    """Both intensities of a phase, and what they are made of."""
    at, model, question = f"intensity.{workload.phase}", setting.model, setting.question
    each = _by_component(setting, workload)
    flops_read = over_all(model, each["flops"], run, "FLOPs")
    all_flops = over_all(model, each["all_flops"], run, "FLOPs")
    read = over_all(model, each["bytes"], stored, "bytes")
    if not read.value:
        raise RefusedError(f"{model.name}: no intensity: no product reads a weight")
    elements = over_all(model, each["elements"], run, "elements")
    activations = product(elements, question.activation_bytes)
    moved = total((read, activations, _cache_moved(setting, workload)), "bytes")
    beneath: Figures = {
        f"{at}.{component}.{part}": quantity
        for part, quantities in each.items()
        for component, quantity in quantities.items()
    }
    beneath |= {
        f"{at}.flops": flops_read,
        f"{at}.bytes": read,
        f"{at}.all_flops": all_flops,
        f"{at}.activations": activations,
        f"{at}.all_bytes": moved,
    }
    figures = {at: flops_read / read, f"intensity.all.{workload.phase}": all_flops / moved}
    return figures, beneath


def _by_component(setting: Setting, workload: Workload) -> dict[str, dict[str, Quantity]]:
    """What one layer of each kind, and each component beside them, computes and moves."""
    rows, question, passes = setting.model.text_rows, setting.question, setting.passes(workload)
    per_mac = per_multiply_add(macs=False, phase=workload.phase)

    given = [(row, passes[row.given]) for row in rows]
    computed = [(row, flops(row, of, per_mac)) for row, of in given]
    by_weight = (each for each in computed if isinstance(each[0].declared, Weight))
    storage = Storage(setting.model, question)
    moved = sums(((row, passed(row, of)) for row, of in given), "")
    return {
        "flops": sums(by_weight, "FLOPs"),
        "bytes": sums(((row, read(row, of, storage)) for row, of in given), "bytes"),
        "all_flops": sums(computed, "FLOPs"),
        "elements": {name: elements.counted_as("elements") for name, elements in moved.items()},
    }


def _cache_moved(setting: Setting, workload: Workload) -> Quantity:
    """Bytes of the cache that a pass reads and adds."""
    if not setting.model.has_decoder:
        return total((), "bytes")
    formats = kvcache.CacheFormats(setting.model, setting.question)
    layers = {
        f"block.{kind.name}": of_state(kind.state.values(), workload, formats)
        for kind in setting.model.decoder_layers
    }
    return product(workload.batch, over_all(setting.model, layers, keeping, "bytes"))


ACCOUNT = Account(
    reads=(
        "prompt", "batch", "ctx", "scores", "logits", "source", "mla", "dtype", "weights", "kv",
        "checkpoint",
    ),
    make=report,
)  # fmt: skip
