"""What an account declares of itself; commands, options and refusals derive from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from txcalc.model.model import Model
from txcalc.report.report import Layout, Report
from txcalc.workload.question import Question


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """A question about one model.

    ``reads`` are the options of a question that can move its figures; ``make`` answers it;
    ``layout`` is how its report stands on a screen, ``views`` are other layouts, each chosen by an
    option of its name (with that option's help); an account about ``one`` model takes no more.
    """

    reads: tuple[str, ...]
    make: Callable[[Model, Question], Report]
    layout: Layout = "figures"
    views: Mapping[Layout, str] = {}
    one: bool = False
