"""What training keeps in memory between its forward and its backward pass."""

from __future__ import annotations

from txcalc.accounts.account import Account
from txcalc.accounts.fold import layer_notes, shown_blocks
from txcalc.accounts.setting import Setting
from txcalc.accounts.training.activations import Activations
from txcalc.model.model import Model
from txcalc.model.parts.ffn import Plain
from txcalc.report.report import Report
from txcalc.workload.question import Question

_BLOCK = ("", ".norms", ".attention", ".ffn", ".input")
CONVENTIONS = [
    "tensors that autograd keeps, each storage once; no parameters, no inputs, not the loss",
    "a lower bound: no weights, gradients, optimizer, workspaces, fragmentation, communication",
]
_ASSUMED = [
    "activation functions are GELU in plain networks and SiLU in gated ones",
    "models with rotary positions project q, k, v apart and take an eager softmax in fp32",
    "models with learned positions project q, k, v as one",
]
_RECIPES = {
    "bf16": "recipe bf16: weights, products and stream in bf16",
    "fp32": "recipe fp32: weights, products and stream in fp32",
    "autocast": "recipe autocast: weights and stream in fp32, products on copies in bf16",
}


def report(model: Model, question: Question) -> Report:
    """Activations by component and in total, down to single tensors.

    Raises:
        RefusedError: what no measurement confirms.
    """
    setting = Setting(model, question)
    setting.refuse_without_text()
    setting.refuse_partial()
    kept = Activations(setting)
    figures = kept.figures
    root, workload = "trainmem.activations", kept.workload
    beside = [f"{root}.{part}" for part in ("embedding", "blocks", "final_norm", "head", "total")]
    n = int(workload.batch.value)
    return Report(
        title="activations of a training step",
        figures=figures,
        shown=[*shown_blocks(root, _BLOCK, figures, model), *beside],
        notes=layer_notes(root, model),
        assumptions=[
            setting.stated(workload.ctx),
            f"{n:,} sequence{'s' * (n != 1)} of a micro-batch",
            f"attention {question.attention}",
            f"recompute {question.recompute}",
            f"dropout {question.dropout}",
            f"norms {question.norms}",
            f"inventory {question.inventory}",
            _RECIPES[question.recipe],
            *_ASSUMED,
        ],
        conventions=CONVENTIONS,
        warnings=[*_unstated(model), *setting.warnings(workload.ctx, workload.source)],
    )


def _unstated(model: Model) -> list[str]:
    """A warning where the FFN may well have another activation function than is assumed."""
    if not any(isinstance(block.ffn, Plain) for block in model.blocks.values()):
        return []
    others = "with ReLU, or with q, k and v apart beside learned positions, other bytes are kept"
    return [f"{model.name}: a description states no activation function: {others}"]


ACCOUNT = Account(
    reads=(
        "ctx", "micro_batch", "attention", "recompute", "recipe", "dropout",
        "logits_fp32", "norms", "inventory",
    ),
    make=report,
)  # fmt: skip
