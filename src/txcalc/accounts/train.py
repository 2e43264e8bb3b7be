"""What a training run computes, how long it takes, and how much of the peak it reaches."""

from __future__ import annotations

from fractions import Fraction

from txcalc.accounts.account import Account
from txcalc.accounts.flops import COUNTED, SCORES
from txcalc.accounts.setting import Setting
from txcalc.accounts.training.conventions import COUNTS
from txcalc.accounts.training.speed import Speed
from txcalc.accounts.training.work import Work
from txcalc.exact.quantity import product
from txcalc.model.model import Model
from txcalc.report.format import decimal, percent
from txcalc.report.report import Figures, Report
from txcalc.workload.question import Question

_SPEED = ("tokens", "throughput", "days", "gpu_hours", "mfu", "hfu")
_TIMED = "needs --gpus, and two of --train-tokens, --days, and --mfu or --throughput"
_PEAK = "needs --gpus and a --device, whose dense peak is the denominator"


def report(model: Model, question: Question) -> Report:
    """FLOPs of a step, a token and a run; with GPUs also its days and their utilisation.

    Raises:
        OptionError: options that contradict each other.
        RefusedError: what no known count says.
    """
    setting = Setting(model, question)
    setting.refuse_without_text()
    setting.refuse_partial()
    work = Work(setting)
    figures: Figures = {
        "train.flops.forward": work.forward,
        "train.flops.backward": work.backward,
        "train.flops.recompute": work.recompute,
        "train.flops.step": work.step,
        "train.flops.token": work.step / work.tokens,
        "train.flops.model": work.useful / work.tokens,
    }
    speed = Speed(question, figures["train.flops.token"], figures["train.flops.model"])
    if (tokens := speed.tokens) is not None:
        figures["train.flops.run"] = product(tokens, figures["train.flops.token"])
    figures |= {
        f"train.{name}": figure for name in _SPEED if (figure := getattr(speed, name)) is not None
    }
    return Report(
        title="training",
        figures=figures,
        shown=list(figures),
        labels=_labels(),
        lead=_lead(figures, question),
        refused=_refused(figures),
        assumptions=_assumptions(setting, work, speed),
        conventions=_conventions(question, work),
        warnings=setting.warnings(work.workload.ctx, work.workload.source),
    )


def _labels() -> dict[str, str]:
    return {
        "train.flops.forward": "forward",
        "train.flops.backward": "backward",
        "train.flops.recompute": "run again",
        "train.flops.step": "a step",
        "train.flops.token": "a token",
        "train.flops.model": "a token without what is run again",
        "train.flops.run": "the run",
        "train.tokens": "tokens of the run",
        "train.throughput": "tokens a second and GPU",
        "train.days": "days",
        "train.gpu_hours": "GPU hours",
        "train.mfu": "MFU",
        "train.hfu": "HFU",
    }


def _lead(figures: Figures, question: Question) -> list[str]:
    """Days and utilisation in a sentence."""
    if "train.days" not in figures and "train.mfu" not in figures:
        return []
    device = "" if question.device is None else question.device.name
    number = "" if question.gpus is None else f"{question.gpus:,} x "
    where = f"On {number}{device}" if device else f"On {question.gpus:,} GPUs"
    said = []
    if "train.days" in figures:
        said.append(f"{_short(figures['train.days'].value)} days")
        said.append(f"{_short(figures['train.gpu_hours'].value)} GPU hours")
    if "train.mfu" in figures:
        said.append(f"MFU {percent(figures['train.mfu'], 2)}")
    return [f"{where}: {', '.join(said)}."]


def _short(value: int | Fraction) -> str:
    return decimal(value, places=2)


def _refused(figures: Figures) -> dict[str, str]:
    """Why figures of speed are not there."""
    needs = {name: _PEAK if name in ("mfu", "hfu") else _TIMED for name in _SPEED}
    refused = {f"train.{name}": need for name, need in needs.items()}
    refused["train.flops.run"] = "needs --train-tokens, or --days and a speed"
    return {name: need for name, need in refused.items() if name not in figures}


def _assumptions(setting: Setting, work: Work, speed: Speed) -> list[str]:
    question, workload = setting.question, work.workload
    lines = [setting.stated(workload.ctx)]
    if setting.has_source:
        lines.append(setting.stated(workload.source))
    lines += [
        f"{workload.batch.value:,} sequence{'s' * (workload.batch.value != 1)} a step",
        f"attention {question.attention}",
        f"recompute {question.recompute}",
    ]
    if (adapters := question.adapters) is not None:
        targets = ", ".join(adapters.targets)
        lines.append(f"adapters of rank {adapters.rank.value} on {targets}, all else frozen")
    return lines + speed.stated


def _conventions(question: Question, work: Work) -> list[str]:
    exact = [COUNTED, SCORES[work.workload.scores]]
    if question.flops_as != "exact":
        count = COUNTS[question.flops_as]
        exact = [f"{question.flops_as}: {count.definition} ({count.source})"]
    return [
        "1 multiply-add = 2 FLOPs",
        *exact,
        "backward = 2 x forward; flash attention makes queries times keys again",
        *(["of a frozen weight the gradient of its input alone"] if question.lora else []),
        "MFU counts no FLOPs that are run again, HFU all of them (arXiv:2204.02311, appendix B)",
    ]


ACCOUNT = Account(
    reads=(
        "ctx", "source", "micro_batch", "microbatches", "dp", "scores", "mla", "attention",
        "recompute", "lora", "flops_as", "train_tokens", "gpus", "device", "compute", "mfu",
        "throughput", "days",
    ),
    make=report,
)  # fmt: skip
