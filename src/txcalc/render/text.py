"""The one way out: reports to the text of a format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Literal

from txcalc.report import Report

Format = Literal["table", "json", "csv", "markdown"]
Layout = Literal["figures", "shapes", "tensors", "steps", "catalogue"]


def render(reports: Sequence[Report], fmt: Format, layout: Layout = "figures") -> str:
    """Reports in a format; its module is imported only now."""
    write: Callable[[Sequence[Report], Layout], str] = import_module(f"txcalc.render.{fmt}").write
    return write(reports, layout)
