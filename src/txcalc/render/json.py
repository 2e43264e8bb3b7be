"""JSON: an array of reports in raw base units."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from txcalc.render.values import rows
from txcalc.report.report import Layout, Report


def reports_json(reports: Sequence[Report], layout: Layout, *, explain: bool = False) -> str:
    """One object a model."""
    answer = [
        {
            "model": report.model,
            **({"source": report.source} if layout == "catalogue" else {}),
            "scope": report.scope,
            "assumptions": report.assumptions,
            "conventions": report.conventions,
            "warnings": report.warnings,
            "rows": list(rows(report, layout, explain=explain)),
            **(_verdict(report) if layout == "differences" else {}),
        }
        for report in reports
    ]
    return json.dumps(answer, ensure_ascii=False, indent=2) + "\n"


def _verdict(report: Report) -> dict[str, Any]:
    """What stands first, and each difference of a checkpoint."""
    return {"verdict": report.lead, "differences": msgspec.to_builtins(report.differences)}
