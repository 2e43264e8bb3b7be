"""How many FLOPs a token or a pass costs: matrix products and attention products."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from txcalc.accounts.account import Account
from txcalc.accounts.fold import (
    SIDES,
    fold,
    layer_notes,
    leaves,
    of_towers,
    of_which,
    run,
    select,
    shares,
    shown_blocks,
)
from txcalc.accounts.fold import flops as cost
from txcalc.accounts.setting import Setting
from txcalc.errors import RefusedError
from txcalc.exact.quantity import Quantity, total
from txcalc.model.model import Layers, Model
from txcalc.model.parts.mla import Latent
from txcalc.model.structure import SUB_LAYERS
from txcalc.report import address as grammar
from txcalc.report.report import Figures, Report
from txcalc.workload.passes import Workload, per_multiply_add
from txcalc.workload.question import Question

_BLOCK = (
    "", ".projections", ".scores", ".ssm", ".cross_attention", ".ffn", ".residual", ".tensors",
    ".matmul",
)  # fmt: skip
_BESIDE = ("embedding", "head", "tensors")
_OF_TEXT = ("total", "whole", "blocks", "block", *_BESIDE)
SCORES = {
    "full": "scores: every query attends to min(T, window) keys",
    "causal": "scores: the pairs that the mask leaves visible, no more",
    "square": "scores: T x T pairs in every layer, windows too",
    "none": "scores: not counted",
}
TOWERS = "towers: the images and sound of one sequence; in a pass of several, of each of them"
COUNTED = "matrix and attention products count; norms, softmax, look-ups, elementwise work do not"


def report(model: Model, question: Question) -> Report:
    """FLOPs (or multiply-adds) of the question's phase, by block and in total.

    What towers run is told where there are images or sound, whatever the text model answers.
    """
    setting = Setting(model, question, sees=True)
    if not setting.sights:
        return _text(setting)
    try:
        text = _text(setting)
    except RefusedError as refusal:
        why = str(refusal).removeprefix(f"{model.name}: ")
        text = Report(
            title=_unit(question).unit, figures={}, shown=[], warnings=[f"{model.name}: {why}"],
            refused={f"flops.{part}": why for part in _OF_TEXT},
        )  # fmt: skip
    return _with_towers(setting, text)


def _text(setting: Setting) -> Report:
    """What the text model runs."""
    model, question = setting.model, setting.question
    setting.refuse_without_text()
    setting.refuse_partial()
    setting.refuse_crossing()
    workload = setting.workload()
    figures = _figures(setting, workload)
    shown = shown_blocks("flops", _BLOCK, figures, model)
    rare = [f"flops.{part}" for part in ("embedding", "tensors") if figures[f"flops.{part}"].value]
    shown += [*rare, "flops.blocks", "flops.head", "flops.total"]
    return Report(
        title=_unit(question).unit,
        figures=figures | _of_towers(setting),
        shown=shown,
        shares=shares(figures, "flops", shown, model, run),
        labels=of_which(shown),
        notes=layer_notes("flops", model),
        assumptions=_assumptions(setting, workload),
        conventions=[
            "1 multiply-add = 1 MAC" if question.macs else "1 multiply-add = 2 FLOPs",
            COUNTED,
            SCORES[workload.scores],
            *_phase(setting),
        ],
        warnings=[*setting.warnings(workload.ctx, workload.source), *_mla_warnings(setting)],
    )


def _with_towers(setting: Setting, text: Report) -> Report:
    """The same with what towers and projectors run."""
    figures = text.figures | _of_towers(setting)
    sides = [f"flops.{side}.{name}" for side in SIDES for name in setting.sights]
    beside = [name for name in sides if figures[name].value]
    if "flops.total" in figures:
        parts = (figures[name] for name in ("flops.total", *(f"flops.{s}" for s in SIDES)))
        figures["flops.whole"] = total(parts, _unit(setting.question).unit)
        beside.append("flops.whole")
    return msgspec.structs.replace(
        text,
        figures=figures,
        shown=[*text.shown, *beside],
        assumptions=[*text.assumptions, *setting.seen()],
        conventions=[*text.conventions, TOWERS],
    )


def _unit(question: Question) -> Quantity:
    return per_multiply_add(macs=question.macs, phase=question.phase)


def _of_towers(setting: Setting) -> Figures:
    """``flops.tower`` and ``flops.projector``; without images and sound they are zero."""
    per_mac = _unit(setting.question)
    passes = setting.tower_passes(setting.question.phase)
    costs = leaves(setting.model.tower_rows, lambda row: cost(row, passes[row.given], per_mac))
    return of_towers("flops", setting.model, costs, run, per_mac.unit)


def _figures(setting: Setting, workload: Workload) -> Figures:
    """Every figure of the text model."""
    model, per_mac = setting.model, _unit(setting.question)
    passes = setting.passes(workload)
    costs = leaves(model.text_rows, lambda row: cost(row, passes[row.given], per_mac))
    figures = fold("flops", model, costs, run, _BESIDE, per_mac.unit)
    for kind in model.layers:
        figures |= _by_kind(kind, costs.get(f"block.{kind.name}", {}), figures, per_mac.unit)
    return figures


def _by_kind(kind: Layers, rows: Mapping[str, Quantity], figures: Figures, unit: str) -> Figures:
    """A block's products with and without a weight, and zero for the sub-layers it lacks."""
    address = grammar.block("flops", kind.name)
    absent = {f"{address}.{role}": total((), unit) for role in SUB_LAYERS}
    attention = [name for name in rows if grammar.first(name) == "attention"]
    return {
        **{name: figures.get(name, nothing) for name, nothing in absent.items()},
        f"{address}.projections": select(rows, [n for n in attention if n in kind.weights], unit),
        f"{address}.scores": select(rows, [n for n in attention if n in kind.operations], unit),
        f"{address}.matmul": select(rows, [n for n in rows if n in kind.weights], unit),
    }


def _assumptions(setting: Setting, workload: Workload) -> list[str]:
    """The workload in words."""
    lines = [f"phase {workload.phase}", setting.stated(workload.ctx)]
    if setting.has_source:
        lines.append(setting.stated(workload.source))
    return lines if workload.phase == "token" else [*lines, f"batch {workload.batch.value}"]


def _mla_warnings(setting: Setting) -> list[str]:
    """A form of latent attention chosen for a model that has none."""
    form, blocks = setting.question.mla, setting.model.blocks.values()
    if form is None or any(isinstance(block.attention, Latent) for block in blocks):
        return []
    return [f"{setting.model.name} has no latent attention: --mla {form} means nothing"]


def _phase(setting: Setting) -> list[str]:
    """The conventions of the phase and of the architecture."""
    question = setting.question
    lines = {
        "token": ["one token at ctx; batch is ignored"],
        "decode": ["decode: one new token a sequence, which attends to min(ctx, window) keys"],
        "prefill": [f"prefill: batch x ctx tokens, logits: {question.logits}"],
        "train": [f"train = 3 x prefill (forward 1, backward 2), logits: {question.logits}"],
    }[question.phase]
    if setting.has_source:
        lines.append(
            "ctx is the decoder's length, source the encoder's; "
            + (
                "a pass runs both, and the cross keys and values over the source"
                if question.phase in ("prefill", "train")
                else "the encoder and the cross keys and values have run before"
            )
        )
    return lines


ACCOUNT = Account(
    reads=("ctx", "batch", "image", "audio", "phase", "scores", "logits", "source", "mla", "macs"),
    make=report,
)
