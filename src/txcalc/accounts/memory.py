"""How much memory each GPU needs, and all of them: weights, caches, and what stands beside."""

from __future__ import annotations

from collections.abc import Sequence

from txcalc.accounts import kvcache, weights
from txcalc.accounts.account import Account
from txcalc.accounts.gpu import Gpu
from txcalc.accounts.setting import Setting
from txcalc.exact.quantity import ONE, Letter, Quantity, product, total
from txcalc.model.cut import divided_by
from txcalc.model.model import Model
from txcalc.report import address as grammar
from txcalc.report.report import Bar, Figures, Report
from txcalc.workload.passes import Workload
from txcalc.workload.question import Question

CONVENTIONS = [
    "loaded = weights + tables + modules; total = loaded + cache + fixed",
    "a step, apart from the total: each sequence's logits, and the widest product of its tokens",
    "not in it: CUDA context, graphs, workspaces, communication buffers, activations",
]
IN_TOTAL = "stored more than once: beyond an equal share of the model; padding: rows of no token"
TOWERS = "towers and projectors are whole on each GPU of the first stage"
ALWAYS = (".weights", ".cache", ".total")
_ORDER = ("weights", "tables", "mtp", "loaded", "cache", "fixed", "total", "step", "repeated",
          "padding")  # fmt: skip
"""The parts of a GPU's memory as a table lists them."""
_SUMS = (".weights", ".loaded", ".total", ".step", ".repeated", ".padding")
_EACH = ("memory.gpu", "memory.total")
LAYOUT = ("tp", "pp", "dp", "ep", "dcp", "stages")
ENGINE = ("engine", "block_size", "max_batched_tokens", "ubatch")


def report(model: Model, question: Question) -> Report:
    """Memory of a GPU of the tightest stage, of all GPUs, and of each stage."""
    setting = Setting(model, question, sees=True)
    setting.refuse_partial()
    setting.refuse_encoder_only("memory")
    setting.refuse_crossing()
    workload = setting.workload("decode")
    layout = question.layout
    stages = [Gpu(setting, workload, stage) for stage in range(int(layout.pp.value))]
    tightest = max(stages, key=lambda stage: stage.total.value)
    figures = _figures("memory.gpu", tightest) | _in_total(stages, setting)
    for i, stage in enumerate(stages):
        figures |= _figures(f"memory.stages.{i}", stage)
    cache = total((figures["memory.gpu.cache"], figures["memory.gpu.fixed"]), "bytes")
    return Report(
        title=_title(question, stages.index(tightest)),
        figures=figures,
        shown=_shown(figures, _EACH if layout.gpus.value > 1 else _EACH[:1]),
        labels=_labels(workload, tightest),
        remarks=_remarks(figures) if layout.gpus.value > 1 else {},
        bars=[Bar("weights", figures["memory.gpu.loaded"]), Bar("cache", cache)],
        assumptions=[
            *kvcache.assumptions(setting, workload),
            weights.in_format(model, question),
            f"batch {question.batch}",
            gpus(question),
            f"engine {question.engine}",
            *setting.seen(),
        ],
        conventions=[
            *CONVENTIONS,
            *([TOWERS] if setting.sights else []),
            *([IN_TOTAL] if layout.gpus.value > 1 else []),
            *weights.conventions(model, question),
        ],
        warnings=[
            *weights.warnings(model, question),
            *beyond(setting, workload.ctx, workload.source),
        ],
    )


def _title(question: Question, stage: int) -> str:
    """Whose memory it is."""
    if question.layout.gpus.value == 1:
        return "memory of one GPU"
    each = f"a GPU of stages.{stage}, the fullest," if question.pp > 1 else "each"
    return f"memory of {each} of {gpus(question)}"


def gpus(question: Question) -> str:
    """The GPUs of a layout in words: ``4 GPUs (tp 2, dp 2)``."""
    number = question.layout.gpus.value
    if number == 1:
        return "1 GPU"
    sizes = {"tp": question.tp, "pp": question.pp, "dp": question.dp, "dcp": question.dcp}
    words = [f"{name} {size}" for name, size in sizes.items() if size > 1]
    return f"{number:,} GPUs ({', '.join([*words, *['whole experts'] * question.ep])})"


def _shown(figures: Figures, places: Sequence[str]) -> list[str]:
    """The addresses of a table in their order: what is held, a step, and what of it is double."""
    rows: dict[str, list[str]] = {part: [] for part in _ORDER}
    for address in figures:
        for at in places:
            if grammar.is_below(address, at):
                rows[grammar.next_word(address, at)].append(address)
    alone = {f"{at}.cache.{kind}" for at in _EACH for kind in _only_kind(figures)}
    listed = [address for part in _ORDER for address in rows[part] if address not in alone]
    kept = [address for address in listed if figures[address].value or address.endswith(ALWAYS)]
    return [address for at in places for address in kept if grammar.is_below(address, at)]


def _only_kind(figures: Figures) -> list[str]:
    """The kind of layer that keeps a cache, where it is the only one."""
    start = "memory.total.cache."
    kinds = [address.removeprefix(start) for address in figures if address.startswith(start)]
    return kinds if len(kinds) == 1 else []


def _labels(workload: Workload, held: Gpu) -> dict[str, str]:
    """What the rows are called where their words do not say enough."""
    ctx, sequences = f"{workload.ctx.value:,}", f"{held.caches.sequences.value:,}"
    return {
        "memory.gpu.weights": "weights",
        "memory.gpu.tables": "RoPE tables",
        "memory.gpu.mtp": "modules for further tokens",
        "memory.gpu.loaded": "loaded",
        "memory.gpu.cache": f"cache, {sequences} x {ctx} tokens",
        "memory.gpu.fixed": "fixed states",
        "memory.gpu.total": "total",
        "memory.gpu.step": "a step, not in the total",
        "memory.gpu.step.logits": f"logits of {sequences}",
        "memory.gpu.step.widest": f"widest output of {held.step_tokens.value:,}",
        "memory.gpu.repeated": "of it stored more than once",
        "memory.gpu.padding": "of it padding",
    }


def _remarks(figures: Figures) -> dict[str, str]:
    """What each part is divided by."""
    return {
        address: ", ".join(divided_by(figure)) or "whole on each GPU"
        for address, figure in figures.items()
        if grammar.is_below(address, "memory.gpu") and not address.endswith(_SUMS)
    }


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


def beyond(setting: Setting, ctx: Letter, source: Letter) -> list[str]:
    """Warnings where a length is beyond learned positions or beyond the model's own context."""
    learned, own = setting.warnings(ctx, source), setting.model.context
    if learned or own is None or ctx.value <= own.value:
        return learned
    return [f"{setting.model.name}: ctx {ctx.value:,} is beyond its own context, {own.value:,}"]


ACCOUNT = Account(
    reads=(
        "ctx", "image", "audio", "batch", "source", "dtype", "weights", "kv", "mtp", *LAYOUT,
        *ENGINE, "step_tokens", "checkpoint",
    ),
    make=report,
    layout="divided",
)  # fmt: skip
