"""The one way out: reports to the text of a format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Literal

from txcalc.report.report import Layout, Report

Format = Literal["table", "json", "csv", "markdown"]


def render(
    reports: Sequence[Report], fmt: Format, layout: Layout = "figures", *, explain: bool = False
) -> str:
    """Reports in a format, its module imported only now; ``explain`` adds every row's formula."""
    write: Callable[[Sequence[Report], Layout, bool], str] = import_module(
        f"txcalc.render.{fmt}"
    ).write
    return write(reports, layout, explain)
