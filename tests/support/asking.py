"""Rows of data files as questions to ``txcalc get``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.support.running import get, save


def asked(row: dict[str, Any], address: str) -> Fraction:
    """The figure that a row's model, edits and options give; less that of ``minus``."""
    model = _model(row)
    edits = [word for change in row.get("set", []) for word in ("--set", change)]
    options = row.get("options", {})
    value = Fraction(get(model, address, *edits, *_words(options)))
    if "minus" not in row:
        return value
    return value - get(model, address, *edits, *_words({**options, **row["minus"]}))


def _model(row: dict[str, Any]) -> str:
    if "config" in row:
        return save(row["config"], "config.json")
    model = row["model"]
    return model if isinstance(model, str) else save(model)


def _words(options: dict[str, Any]) -> list[object]:
    return [
        word
        for name, value in options.items()
        for word in ((f"--{name}",) if value is True else (f"--{name}", value))
    ]
