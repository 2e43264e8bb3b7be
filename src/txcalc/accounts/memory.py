"""How much memory each GPU needs, and all of them: weights, caches, and what stands beside."""

from __future__ import annotations

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.gpu import Gpu
from txcalc.accounts.setting import Setting
from txcalc.exact.quantity import ONE, Letter, Quantity, product, total
from txcalc.model.cut import divided
from txcalc.model.model import Model
from txcalc.report import address as grammar
from txcalc.report.report import Bar, Figures, Report
from txcalc.workload.question import Question

CONVENTIONS = [
    "gpu: one GPU of the stage that needs the most; total: all GPUs together",
    "repeated: beyond an equal share of the model's weights; padding: rows that no token has",
    "loaded = weights + tables + mtp; total = loaded + cache + fixed",
    "step, apart from the total: logits of each sequence and the widest product's output",
    "not in it: CUDA context, graphs, workspaces, communication buffers, activations",
]
ALWAYS = (".weights", ".loaded", ".cache", ".total")
LAYOUT = ("tp", "pp", "dp", "ep", "dcp", "stages")
ENGINE = ("engine", "block_size", "max_batched_tokens", "ubatch")


def report(model: Model, question: Question) -> Report:
    """Memory of a GPU of the tightest stage, of all GPUs, and of each stage."""
    setting = Setting(model, question)
    setting.refuse_partial()
    setting.refuse_encoder_only("memory")
    workload = setting.workload("decode")
    layout = question.layout
    stages = [Gpu(setting, workload, stage) for stage in range(int(layout.pp.value))]
    tightest = max(stages, key=lambda stage: stage.total.value)
    figures = _figures("memory.gpu", tightest) | _in_total(stages, setting)
    for i, stage in enumerate(stages):
        figures |= _figures(f"memory.stages.{i}", stage)
    shown = [
        address
        for address in figures
        if grammar.is_below(address, "memory.gpu") or grammar.is_below(address, "memory.total")
        if figures[address].value or address.endswith(ALWAYS)
    ]
    cache = total((figures["memory.gpu.cache"], figures["memory.gpu.fixed"]), "bytes")
    return Report(
        title="memory",
        figures=figures,
        shown=shown,
        bars=[Bar("weights", figures["memory.gpu.loaded"]), Bar("cache", cache)],
        assumptions=[
            *kvcache.assumptions(setting, workload),
            weights.in_format(model, question),
            f"batch {question.batch}",
            f"{layout.gpus.value} GPUs: {_layout(question)}",
            *_divided(model, question),
            f"engine {question.engine}",
        ],
        conventions=CONVENTIONS,
        warnings=[
            *weights.warnings(model, question),
            *beyond(setting, workload.ctx, workload.source),
        ],
    )


def _figures(at: str, held: Gpu, gpus: Quantity = ONE, shares: Quantity = ONE) -> Figures:
    """The figures of so many GPUs alike, whose sequences are those of so many ``shares``."""
    fixed_parts = {
        "weights": total(held.weights.values(), "bytes"),
        "repeated": held.repeated,
        "padding": held.padding,
        "tables": held.tables,
        "mtp": held.mtp,
        "loaded": held.loaded,
    }
    parts = {part: product(gpus, each) for part, each in fixed_parts.items()}
    caches = {
        kind: product(gpus if kind == "spare" else shares, each)
        for kind, each in held.caches.by_kind.items()
    }
    parts["cache"] = total(caches.values(), "bytes")
    parts["fixed"] = product(shares, held.caches.fixed)
    parts["total"] = total((parts["loaded"], *caches.values(), parts["fixed"]), "bytes")
    step = {name: product(gpus, each) for name, each in held.step.items()}
    parts["step"] = total(step.values(), "bytes")
    below = {
        "weights": {role: product(gpus, each) for role, each in held.weights.items()},
        "cache": caches,
        "step": step,
    }
    return {f"{at}.{part}": quantity for part, quantity in parts.items()} | {
        f"{at}.{part}.{name}": each for part, named in below.items() for name, each in named.items()
    }


def _in_total(stages: list[Gpu], setting: Setting) -> Figures:
    """The same parts, summed over all GPUs; the sequences of all groups are the batch."""
    layout = setting.question.layout
    groups = layout.dp if layout.dp.value == 1 else setting.batch / stages[0].caches.sequences
    gpus, shares = product(layout.tp, layout.dp), product(layout.tp, groups)
    each = [_figures("memory.total", stage, gpus, shares) for stage in stages]
    names = dict.fromkeys(name for figures in each for name in figures)
    return {
        name: total((figures[name] for figures in each if name in figures), "bytes")
        for name in names
    }


def _divided(model: Model, question: Question) -> list[str]:
    """What each part is divided by."""
    layout = question.layout
    words = [
        f"{role} by {' and '.join(letters)}" for role, letters in divided(model, layout).items()
    ]
    words += ["tables by vocab"] if layout.tp.value > 1 else []
    words += ["experts by their number"] if layout.ep else []
    return [f"divided: {', '.join(words)}, the rest whole on each GPU"] if words else []


def beyond(setting: Setting, ctx: Letter, source: Letter) -> list[str]:
    """Warnings where a length is beyond learned positions or beyond the model's own context."""
    learned, own = setting.warnings(ctx, source), setting.model.context
    if learned or own is None or ctx.value <= own.value:
        return learned
    return [f"{setting.model.name}: ctx {ctx.value:,} is beyond its own context, {own.value:,}"]


def _layout(question: Question) -> str:
    sizes = {"tp": question.tp, "pp": question.pp, "dp": question.dp, "dcp": question.dcp}
    words = [f"{name} {size}" for name, size in sizes.items() if size > 1]
    return ", ".join([*words, *(["whole experts"] if question.ep else [])]) or "one"


ACCOUNT = Account(
    reads=(
        "ctx", "batch", "source", "dtype", "weights", "kv", "mtp", *LAYOUT, *ENGINE, "step_tokens",
    ),
    make=report,
)  # fmt: skip
