"""What fits where: the GPUs that a model needs of each device, and the models that one holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from txcalc.accounts import kvcache
from txcalc.accounts.budget import Budget
from txcalc.accounts.fit import CONVENTIONS, on_device, requests
from txcalc.accounts.memory import beyond, gpus
from txcalc.accounts.setting import Setting
from txcalc.accounts.ways import MIXES, MOST, SCHEMES, least_gpus, requests_held
from txcalc.errors import OptionError, TxcalcError
from txcalc.exact.quantity import Letter, Quantity
from txcalc.model.model import Model
from txcalc.report.report import Figures, Report
from txcalc.workload.device import Device
from txcalc.workload.question import Question

GPUS = (
    "GPUs divide heads and widths as --tp does: the least number that the model can have and that "
    f"holds the requests; -: none up to {MOST:,}, or not in that format; (n): a vendor's size"
)


def devices(model: Model, question: Question, listed: Sequence[Device]) -> Report:
    """GPUs of each device that hold the model and the requests, by the format of the weights.

    Raises:
        OptionError: a number of GPUs, which is what is looked for.
        RefusedError: a model that generates nothing, or that is not wholly described.
    """
    for option, given in (("count", question.count), ("tp", question.tp != 1 or None)):
        if given is not None:
            raise OptionError(f"--{option} is what is looked for without a --device")
    question = msgspec.structs.replace(question, batch=1)
    setting = Setting(model, question)
    setting.refuse_partial()
    setting.refuse_encoder_only("fit")
    workload = setting.workload("decode")
    needed = {fmt: _gpus(model, question, fmt, listed) for fmt in _formats(question, [model])}
    places = {f"fit.gpus.{device.name}.{fmt}": (device, fmt) for device in listed for fmt in needed}
    figures = {
        address: needed[fmt][device.name]
        for address, (device, fmt) in places.items()
        if device.name in needed[fmt]
    }
    asked = f"{requests(question.requests)} of {workload.ctx.value:,} tokens"
    return Report(
        title=f"{model.name}: GPUs for {asked}, by device and weights",
        figures=figures,
        shown=list(figures),
        labels={address: _memory(device) for address, (device, _) in places.items()},
        remarks={address: fmt for address, (_, fmt) in places.items()},
        assumptions=[*kvcache.assumptions(setting, workload), *_beside(question)],
        conventions=[GPUS, CONVENTIONS[1]],
    )


def _memory(device: Device) -> str:
    """A device by its name and its size."""
    return f"{device.name}, {float(device.memory_gib):g} GiB{' (n)' * device.nominal}"


def models(question: Question, listed: Iterable[Model]) -> list[Report]:
    """Of each model that a device holds the requests that fit at ctx, by format of the weights.

    Those that it does not hold, and those with a shorter context of their own, are left out.
    """
    question = on_device(question)
    listed = list(listed)
    formats = _formats(question, listed)
    reports = [_of_model(model, question, formats) for model in listed]
    held = [report for report in reports if report.figures]
    device = question.device
    assert device is not None
    title = f"requests that fit on {device.name}, {gpus(question)}, by model and weights"
    left_out = (
        f"{len(held)} of {len(listed)} models, the others do not fit, keep nothing, or have a "
        "shorter context; -: not in that format"
    )
    return [
        msgspec.structs.replace(report, title=title, conventions=[left_out, CONVENTIONS[1]])
        for report in held
    ]


def _of_model(model: Model, question: Question, formats: Sequence[str]) -> Report:
    """Requests of one model in each format that fits; a format may suit it or not."""
    figures: Figures = {}
    length = ""
    for fmt in formats:
        asked = msgspec.structs.replace(question, weights=fmt)
        try:
            setting = Setting(model, asked)
            setting.refuse_partial()
            ctx = setting.workload("decode").ctx
            stages = [Budget(model, asked, stage) for stage in range(asked.pp)]
            held = [of_stage for stage in stages if (of_stage := stage.held())]
        except TxcalcError:
            continue
        length = f"{ctx.value:,}"
        if held and not beyond(setting, ctx, ctx) and all(s.left.value >= 0 for s in stages):
            fit = min((requests_held(of_stage) for of_stage in held), key=lambda each: each.value)
            figures |= {f"fit.models.{fmt}": fit} if fit.value >= question.requests else {}
    addresses = [f"fit.models.{fmt}" for fmt in formats]
    return Report(
        title="fit",
        model=model.name,
        source=model.source,
        scope=model.scope,
        figures=figures,
        shown=list(figures),
        labels=dict.fromkeys(addresses, f"{model.name}, {length} tokens"),
        remarks=dict(zip(addresses, formats, strict=True)),
        assumptions=[f"cache {question.kv or question.dtype}", *_beside(question)],
    )


def _gpus(
    model: Model, question: Question, fmt: str, listed: Sequence[Device]
) -> Mapping[str, Quantity]:
    """The least number of GPUs of each device that holds the requests."""
    found: dict[str, Quantity] = {}
    asked = msgspec.structs.replace(question, weights=fmt, device=listed[0])
    beside = question.pp * question.dp
    for tp, required in least_gpus(model, asked):
        for device in listed:
            if required.value <= device.memory * question.utilised // 1:
                found.setdefault(device.name, Letter(tp * beside, "gpus", unit="GPUs"))
        if len(found) == len(listed):
            break
    return found


def _formats(question: Question, listed: Iterable[Model]) -> list[str]:
    """The formats of the weights: the one asked for, or those that are common."""
    if question.weights is not None:
        return [question.weights]
    own = ["own"] if any(model.stored for model in listed) else []
    return [question.dtype, *own, *(MIXES if question.engine == "llamacpp" else SCHEMES)]


def _beside(question: Question) -> list[str]:
    share = f"utilisation {float(question.utilised):g}"
    overhead = f"overhead {question.overhead} GiB"
    return [share, overhead, f"engine {question.engine}"]
