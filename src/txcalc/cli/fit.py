"""``fit``: of models on GPUs, or where either is left out, of one of them over all of the other."""

from __future__ import annotations

from txcalc.accounts import registry
from txcalc.cli import options as opt
from txcalc.cli.output import Models, answer, emit
from txcalc.cli.signature import Command, Given, with_options
from txcalc.errors import OptionError
from txcalc.report.report import Report
from txcalc.workload.question import Question


def _fit(
    models: Models,
    given: Given,
    explain: opt.Explain = False,
    fmt: opt.FormatOption = "table",
) -> None:
    if not models.names and "device" not in given:
        raise OptionError("fit needs a MODEL, a --device, or both")
    if models.names and ("device" in given or "kv_memory" in given):
        answer("fit", models, given, fmt, registry.declared("fit").layout, explain=explain)
        return
    if explain:
        raise OptionError("--explain is of one answer: give a MODEL and a --device")
    from txcalc.render import render

    reports = _every_model(models, given) if not models.names else _every_device(models, given)
    warnings = [] if reports else ["no bundled model fits"]
    emit(render(reports, fmt, "grid"), warnings)


def _every_device(models: Models, given: Given) -> list[Report]:
    """The GPUs that each model needs of the bundled devices."""
    from txcalc.accounts.survey import devices
    from txcalc.sources.devices import all_devices

    question, listed = Question(**given), all_devices()
    return [registry.about(model, devices(model, question, listed)) for model in models.load()]


def _every_model(models: Models, given: Given) -> list[Report]:
    """What fits of the bundled models on a device."""
    from txcalc.accounts.survey import models as fitting
    from txcalc.sources import bundled

    listed = models._replace(names=bundled.names()).load()
    return fitting(Question(**given), listed)


def command() -> Command:
    """The function of the command."""
    account = registry.declared("fit")
    return with_options(_fit, reads=account.reads, one=account.one)
