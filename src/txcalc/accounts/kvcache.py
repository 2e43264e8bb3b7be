"""How many bytes a sequence keeps between steps."""

from __future__ import annotations

from collections.abc import Mapping

from txcalc.accounts.account import Account
from txcalc.accounts.fold import keeping, over_all
from txcalc.accounts.setting import Setting
from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity, product, total
from txcalc.model.model import Model
from txcalc.model.rows import State
from txcalc.report import address as grammar
from txcalc.report.report import Figures, Report
from txcalc.workload.formats import size
from txcalc.workload.passes import Workload
from txcalc.workload.question import Question
from txcalc.workload.reach import Entries, Fixed, Open, Source

CONVENTIONS = [
    "token = bytes that one token writes in all layers; growth = what one more token adds at ctx",
    "a window keeps min(ctx, window) tokens; sequence = growing, fixed and cross parts at ctx",
]
ENTRIES = "compressed entries: one a complete block of tokens, so token and growth are their mean"
PARTS = ("token", "growth", "fixed", "cross", "sequence")


def report(model: Model, question: Question) -> Report:
    """The cache of one sequence by kind of layer, and of the batch."""
    setting = Setting(model, question)
    setting.refuse_partial()
    setting.refuse_encoder_only("KV cache")
    workload = setting.workload("decode")
    figures = cache(model, workload, question.kv_bytes)
    kinds = [
        f"{grammar.block('kvcache', kind.name)}.{part}"
        for kind in model.decoder_layers
        for part in ("token", "sequence")
        if kind.state
    ]
    figures["kvcache.total"] = product(workload.batch, figures["kvcache.sequence"])
    return Report(
        title="KV cache",
        figures=figures,
        notes={
            grammar.block("kvcache", kind.name): f"x {kind.states.value:,}"
            for kind in model.decoder_layers
        },
        shown=kinds + [f"kvcache.{part}" for part in (*PARTS, "total")],
        assumptions=[*assumptions(setting, workload), f"batch {question.batch}"],
        conventions=[*CONVENTIONS, *([ENTRIES] if _has_entries(model) else [])],
        warnings=setting.warnings(workload.ctx, workload.source),
    )


def _has_entries(model: Model) -> bool:
    return any(
        isinstance(state.reach, Entries | Open)
        for kind in model.decoder_layers
        for state in kind.state.values()
    )


def assumptions(setting: Setting, workload: Workload) -> list[str]:
    """The lengths and the format in words."""
    lines = [setting.stated(workload.ctx)]
    if setting.model.has_encoder:
        lines.append(setting.stated(workload.source, "source"))
    return [*lines, f"cache {setting.question.kv or setting.question.dtype}"]


def cache(model: Model, workload: Workload, kv_bytes: Letter) -> Figures:
    """Bytes of one sequence: a layer of each kind, and all layers."""
    figures: Figures = {}
    for part in PARTS:
        layers = {
            f"block.{kind.name}": _layer(part, kind.state, workload, kv_bytes)
            for kind in model.decoder_layers
        }
        figures |= {f"kvcache.{block}.{part}": layer for block, layer in layers.items()}
        figures[f"kvcache.{part}"] = over_all(model, layers, keeping, "bytes")
    return figures


def _layer(
    part: str, states: Mapping[str, State], workload: Workload, kv_bytes: Letter
) -> Quantity:
    """Bytes of one layer: in the cache's format, and what has a format of its own."""
    own: dict[str | None, list[Quantity]] = {None: []}
    for state in states.values():
        own.setdefault(state.fmt, []).append(product(state.width, _kept(part, state, workload)))
    return total(
        (
            product(
                total(kept, "").counted_as("elements"),
                kv_bytes
                if fmt is None
                else size(fmt, f"{fmt}_bytes", "elements", "its own format"),
            )
            for fmt, kept in own.items()
        ),
        "bytes",
    )


def _kept(part: str, state: State, workload: Workload) -> Quantity:
    """How many tokens' worth of a state a part counts."""
    match part, state.reach:
        case ("cross" | "sequence", Source()):
            return workload.source
        case ("fixed" | "sequence", Fixed()):
            return ONE
        case (_, Source() | Fixed()):
            return ZERO
        case ("token", reach):
            return reach.written
        case ("growth", reach):
            return reach.growth(workload.ctx)
        case ("sequence", reach):
            return reach.kept(workload.ctx)
        case _:
            return ZERO


ACCOUNT = Account(reads=("ctx", "batch", "source", "dtype", "kv"), make=report)
