"""How many FLOPs a token or a pass costs: matrix products and attention products."""

from __future__ import annotations

from collections.abc import Mapping

from txcalc.accounts.fold import layer_notes, select, shares, tree
from txcalc.accounts.question import (
    Question,
    beside_blocks,
    passes,
    position_warnings,
    refuse_partial,
)
from txcalc.exact.quantity import Quantity, product, total
from txcalc.model.model import Layers, Model
from txcalc.model.parts.mla import Latent
from txcalc.model.rows import Weight
from txcalc.model.structure import ROLES
from txcalc.report.report import Figures, Report
from txcalc.workload.passes import Pass, per_multiply_add

_BLOCK = (
    "", ".projections", ".scores", ".ssm", ".cross_attention", ".ffn", ".hyper", ".altup",
    ".tensors", ".matmul",
)  # fmt: skip
SCORES = {
    "full": "scores: every query meets min(T, window) keys",
    "causal": "scores: the pairs that the mask leaves visible, no more",
    "square": "scores: T x T pairs in every layer, windows too",
    "none": "scores: not counted",
}
COUNTED = "matrix and attention products count; norms, softmax, look-ups, elementwise work do not"


def account(model: Model, question: Question) -> Report:
    """FLOPs (or multiply-adds) of the question's phase, by block and in total."""
    refuse_partial(model)
    workload = question.workload(model)
    per_mac = per_multiply_add(macs=question.macs, phase=workload.phase)
    by_stack = passes(model, workload)
    figures: Figures = {}
    shown = []
    for kind in model.layers:
        address = f"flops.block.{kind.name}"
        below = block_flops(address, kind, by_stack[kind.stack], per_mac)
        figures |= below
        shown += [
            a for part in _BLOCK if (a := address + part) in below and (below[a].value or not part)
        ]
    figures["flops.blocks"] = total(
        (product(kind.count, figures[f"flops.block.{kind.name}"]) for kind in model.layers),
        per_mac.unit,
    )
    for component, (rows, given) in beside_blocks(model, by_stack).items():
        figures |= tree(f"flops.{component}", matmuls(rows, given, per_mac), per_mac.unit)
    parts = ("embedding", "blocks", "head", "tensors")
    figures["flops.total"] = total((figures[f"flops.{part}"] for part in parts), per_mac.unit)
    rare = [f"flops.{part}" for part in ("embedding", "tensors") if figures[f"flops.{part}"].value]
    shown += [*rare, "flops.blocks", "flops.head", "flops.total"]
    return Report(
        title=per_mac.unit,
        model=model.name,
        source=model.source,
        figures=figures,
        shown=shown,
        shares=shares(figures, "flops", shown),
        notes=layer_notes("flops", model),
        block_kinds=list(model.blocks),
        assumptions=assumptions(model, question),
        conventions=[
            "1 multiply-add = 1 MAC" if question.macs else "1 multiply-add = 2 FLOPs",
            COUNTED,
            SCORES[workload.scores],
            *_phase(model, question),
        ],
        warnings=[
            *position_warnings(model, workload.ctx, workload.source),
            *_mla_warnings(model, question),
        ],
    )


def _mla_warnings(model: Model, question: Question) -> list[str]:
    """A form of latent attention chosen for a model that has none."""
    if question.mla is None or any(isinstance(b.attention, Latent) for b in model.blocks.values()):
        return []
    return [f"{model.name} has no latent attention: --mla {question.mla} means nothing"]


def block_flops(address: str, kind: Layers, given: Pass, per_mac: Quantity) -> Figures:
    """One layer's products by row and component, given what its stack runs."""
    unit = per_mac.unit
    weights, operations = products(kind, given, per_mac)
    figures = tree(address, {**weights, **operations}, unit)
    for component in ROLES:
        figures.setdefault(f"{address}.{component}", total((), unit))
    attention = [name for name in weights if name.startswith("attention.")]
    figures[f"{address}.projections"] = select(weights, attention, unit)
    scores = [name for name in operations if name.startswith("attention.")]
    figures[f"{address}.scores"] = select(operations, scores, unit)
    figures[f"{address}.matmul"] = select(weights, weights, unit)
    return figures


def products(
    kind: Layers, given: Pass, per_mac: Quantity
) -> tuple[dict[str, Quantity], dict[str, Quantity]]:
    """The rows of one layer: products that read a weight, and those that do not."""
    operations = kind.block.operations(kind.d_model)
    without = {name: given.without_weight(op, per_mac) for name, op in operations.items()}
    return matmuls(kind.rows, given, per_mac), without


def matmuls(rows: Mapping[str, Weight], given: Pass, per_mac: Quantity) -> dict[str, Quantity]:
    """Rows that are multiplied."""
    return {n: given.matmul(row, per_mac) for n, row in rows.items() if row.use == "matmul"}


def assumptions(model: Model, question: Question) -> list[str]:
    """The workload in words."""
    phase = question.phase
    lines = [f"phase {phase}", question.origin(model, "ctx", question.ctx)]
    if model.has_encoder and model.has_decoder:
        source = question.source or question.length(model, "ctx", question.ctx).value
        lines.append(f"source {source:,}")
    return lines if phase == "token" else [*lines, f"batch {question.batch}"]


def _phase(model: Model, question: Question) -> list[str]:
    """The conventions of the phase and of the architecture."""
    lines = {
        "token": ["one token at ctx; batch is ignored"],
        "decode": ["decode: one new token a sequence, which meets min(ctx, window) keys"],
        "prefill": [f"prefill: batch x ctx tokens, logits: {question.logits}"],
        "train": [f"train = 3 x prefill (forward 1, backward 2), logits: {question.logits}"],
    }[question.phase]
    if model.has_encoder and model.has_decoder:
        lines.append(
            "ctx is the decoder's length, source the encoder's; "
            + (
                "a pass runs both, and the cross keys and values over the source"
                if question.phase in ("prefill", "train")
                else "the encoder and the cross keys and values have run before"
            )
        )
    return lines
