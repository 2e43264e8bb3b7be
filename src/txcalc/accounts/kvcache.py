"""How many bytes a sequence keeps between steps."""

from __future__ import annotations

from collections.abc import Mapping

from txcalc.accounts.question import (
    Question,
    position_warnings,
    refuse_encoder_only,
    refuse_partial,
)
from txcalc.exact.quantity import ONE, ZERO, Letter, Quantity, least, product, total
from txcalc.model.model import Model
from txcalc.model.rows import State
from txcalc.report.report import Figures, Report
from txcalc.workload.formats import size
from txcalc.workload.passes import Workload

CONVENTIONS = [
    "token = bytes that one token writes in all layers; growth = what one more token adds at ctx",
    "a window keeps min(ctx, window) tokens; sequence = growing, fixed and cross parts at ctx",
]
ENTRIES = "compressed entries: one a complete block of tokens, so token and growth are their mean"
PARTS = ("token", "growth", "fixed", "cross", "sequence")


def account(model: Model, question: Question) -> Report:
    """The cache of one sequence by kind of layer, and of the batch."""
    refuse_partial(model)
    refuse_encoder_only(model, "KV cache")
    workload = question.workload(model, phase="decode")
    figures = cache(model, workload, question.kv_bytes)
    kinds = [
        f"kvcache.block.{kind.name}.{part}"
        for kind in model.decoder_layers
        for part in ("token", "sequence")
        if kind.block.state(kind.d_model)
    ]
    figures["kvcache.total"] = product(workload.batch, figures["kvcache.sequence"])
    return Report(
        title="KV cache",
        model=model.name,
        source=model.source,
        figures=figures,
        shown=kinds + [f"kvcache.{part}" for part in (*PARTS, "total")],
        block_kinds=list(model.blocks),
        assumptions=[*assumptions(model, question), f"batch {question.batch}"],
        conventions=[*CONVENTIONS, *([ENTRIES] if _has_entries(model) else [])],
        warnings=position_warnings(model, workload.ctx, workload.source),
    )


def _has_entries(model: Model) -> bool:
    states = (s for kind in model.decoder_layers for s in kind.block.state(kind.d_model).values())
    return any(state.block is not None for state in states)


def assumptions(model: Model, question: Question) -> list[str]:
    """The length and the format in words."""
    lines = [question.origin(model, "ctx", question.ctx)]
    if model.has_encoder:
        lines.append(f"source {question.workload(model, phase='prefill').source.value:,}")
    return [*lines, f"cache {question.kv or question.dtype}"]


def cache(model: Model, workload: Workload, kv_bytes: Letter) -> Figures:
    """Bytes of one sequence: a layer of each kind, and all layers."""
    figures: Figures = {}
    for kind in model.decoder_layers:
        states = kind.block.state(kind.d_model)
        for part in PARTS:
            address = f"kvcache.block.{kind.name}.{part}"
            figures[address] = _layer(part, states, workload, kv_bytes)
    for part in PARTS:
        figures[f"kvcache.{part}"] = total(
            (product(kind.states, figures[f"kvcache.block.{kind.name}.{part}"])
             for kind in model.decoder_layers),
            "bytes",
        )  # fmt: skip
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
    ctx = workload.ctx
    match part, state.span:
        case ("token", "own"):
            return _written(state)
        case ("growth", "own"):
            if state.window is None or state.block is not None:
                return _written(state)
            return _within(ctx + ONE, state) - _within(ctx, state)
        case ("sequence", "own"):
            return _within(ctx, state)
        case ("cross" | "sequence", "source"):
            return workload.source
        case ("fixed" | "sequence", "fixed"):
            return ONE
        case _:
            return ZERO


def _written(state: State) -> Quantity:
    """What one token adds to a state in the long run."""
    if state.block is None:
        return ONE
    return ZERO if state.open else ONE / state.block


def _within(tokens: Quantity, state: State) -> Quantity:
    if state.block is None:
        return tokens if state.window is None else least(tokens, state.window)
    whole = tokens // state.block
    return tokens - product(whole, state.block) if state.open else whole
