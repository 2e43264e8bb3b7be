"""What becomes of images: patches of the tower, and tokens of the text model."""

from __future__ import annotations

from typing import Literal

import msgspec

from txcalc.accounts.account import Account
from txcalc.accounts.setting import Setting
from txcalc.accounts.sights import Sight
from txcalc.errors import RefusedError
from txcalc.exact.quantity import Quantity, total
from txcalc.model.model import Model
from txcalc.report.report import Figures, Report
from txcalc.workload.question import Question

CONVENTIONS = [
    "model: tokens that the text model receives of all images of a sequence",
    "prompt: with the marks that the family's processor counts as an image's",
]


def report(model: Model, question: Question) -> Report:
    """Patches, pictures and tokens of the images of one sequence."""
    return heard_or_seen(model, question, "image", ("patches", "pictures"), CONVENTIONS)


def heard_or_seen(
    model: Model,
    question: Question,
    reads: Literal["image", "sound"],
    units: tuple[str, str],
    conventions: list[str],
) -> Report:
    """What towers that read images, or sound, make of them, in small ``units`` and in large ones.

    Raises:
        RefusedError: no such tower, or nothing for it to read.
    """
    if not any(tower.reads == reads for tower in model.towers.values()):
        raise RefusedError(f"{model.name}: {model.left_out or f'no tower reads {reads}'}")
    other = {"audio": None} if reads == "image" else {"image": None}
    setting = Setting(model, msgspec.structs.replace(question, **other), sees=True)
    seen = [sight for sight in setting.sights.values() if sight.tower.reads == reads]
    if not seen:
        option = "--image HxW" if reads == "image" else "--audio SECONDS"
        raise RefusedError(f"{model.name}: nothing to read is given: {option}")
    at = "image" if reads == "image" else "audio"
    figures = {f"{at}.{name}": quantity for name, quantity in _figures(seen, units).items()}
    refused = {} if model.stacks else {f"{at}.tokens": "no text model receives them"}
    return Report(
        title=at,
        figures={name: q for name, q in figures.items() if model.stacks or "tokens" not in name},
        shown=[name for name in figures if model.stacks or "tokens" not in name],
        assumptions=[f"{at} {question.image if reads == 'image' else f'{question.audio} s'}"],
        conventions=conventions,
        refused=refused,
    )


def _figures(seen: list[Sight], units: tuple[str, str]) -> Figures:
    """The sums over all towers that read the same."""
    parts: dict[str, list[Quantity]] = {
        units[0]: [sight.patches for sight in seen],
        units[1]: [sight.pictures for sight in seen],
        "tokens.tower": [sight.tokens for sight in seen],
        "tokens.model": [sight.received for sight in seen],
        "tokens.prompt": [sight.prompt for sight in seen],
    }
    return {name: total(each, "") for name, each in parts.items()}


ACCOUNT = Account(reads=("image",), make=report)
