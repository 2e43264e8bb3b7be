"""A proof as a table, its verdict first, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from rich.text import Text

from txcalc.reference.proof import Equality, Number, Proof
from txcalc.render.sheet import Column, Sheet
from txcalc.render.table import capture, drawn
from txcalc.report.format import decimal, printable

_COUNTS = "FLOPs of one layer, bytes of all layers; every number of the run is read from its arrays"
_AS_IT_IS = "as it is described, with random weights"


def proof_table(proof: Proof) -> str:
    """Each equality with both numbers, below the run that it is about."""
    failing = len(proof.failed)
    sheet = Sheet(
        lead=[f"ran: {proof.ran}", f"scaled: {_scaled(proof)}"],
        columns=[Column("", "text"), Column("run"), Column("account"), Column("", "word")],
        rows=list(_rows(proof)),
        notes=[_COUNTS, *_allowed(proof)],
    )
    verdict = f"{proof.model}: {len(proof.equalities)} equalities"
    verdict += f", {failing} do not hold" if failing else ", all hold"
    return capture(Text(verdict, style="red" if failing else "green"), *drawn(sheet))


def proof_json(proof: Proof) -> str:
    """One object with every equality and its two numbers."""
    answer = {
        "model": proof.model,
        "holds": proof.holds,
        "ran": proof.ran,
        "scaled": [
            {"name": name, "described": described, "run": run}
            for name, described, run in proof.scaled
        ],
        "equalities": [_raw(equality) for equality in proof.equalities],
    }
    return json.dumps([answer], ensure_ascii=False, indent=2) + "\n"


def _rows(proof: Proof) -> Iterator[list[str]]:
    about = ""
    for equality in proof.equalities:
        if equality.about != about:
            about = equality.about
            yield [about, "", "", ""]
        shown = [_run(equality), _number(equality.accounted)]
        yield [f"  {printable(equality.address)}", *shown, "" if equality.holds else "fails"]


def _scaled(proof: Proof) -> str:
    changes = [f"{name} {before:,} to {after:,}" for name, before, after in proof.scaled]
    return ", ".join(changes) or _AS_IT_IS


def _allowed(proof: Proof) -> list[str]:
    """What means over routings may differ by from the estimate."""
    means = [e.within for e in proof.equalities if e.within and not _is_difference(e)]
    return [f"means: within 4 standard errors, {max(means):.2g} at most"] if means else []


def _is_difference(equality: Equality) -> bool:
    return bool(equality.within) and not equality.accounted


def _run(equality: Equality) -> str:
    """The number of the run; of a difference that rounding explains no more than that."""
    if _is_difference(equality) and equality.holds:
        return f"≤ {equality.within:.0e}"
    return _number(equality.run)


def _number(number: Number) -> str:
    return f"{number:.4g}" if isinstance(number, float) else decimal(number)


def _raw(equality: Equality) -> dict[str, Any]:
    return {
        "about": equality.about,
        "address": equality.address,
        "run": _plain(equality.run),
        "account": _plain(equality.accounted),
        "within": equality.within,
        "holds": equality.holds,
    }


def _plain(number: Number) -> int | float:
    if isinstance(number, Fraction):
        return number.numerator if number.denominator == 1 else float(number)
    return number
