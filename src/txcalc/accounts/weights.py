"""How many bytes the parameters take."""

from __future__ import annotations

from typing import get_args

from txcalc.accounts import params
from txcalc.accounts.account import Account
from txcalc.accounts.fold import SIDES
from txcalc.accounts.storage import Storage
from txcalc.exact.quantity import Quantity, const, product, total
from txcalc.model.model import Model, Row
from txcalc.model.rows import Role, Weight
from txcalc.report.report import Figures, Report
from txcalc.workload.chosen import is_own
from txcalc.workload.mixes import Mix
from txcalc.workload.question import Question

TEXT_ALONE = "of the text model alone: its towers and projectors are not in it"
SCHEME_OF = {"fp8": "fp8-channel", "int8": "int8-channel", "int4": "awq-g128"}
"""Flat formats narrower than those of tables, and a scheme that leaves tables alone."""


_BESIDE = [f"weights.{side}" for side in SIDES]
"""What stands beside a text model, outside of the sum."""


def report(model: Model, question: Question) -> Report:
    """All parameters in their formats: by role, together, and the bits of one."""
    storage, sums = Storage(model, question, mtp=question.mtp), params.totals(model)
    by_role, parameters = _by_role(model, storage), sums["params.total"]
    if question.mtp:
        parameters += _modules(model)
    whole = _whole(model, storage, by_role)
    bits = product(const(8, "bits/byte"), whole) / parameters
    figures = {**by_role, "weights.bytes": whole, "weights.bits": bits}
    return Report(
        title="weights",
        figures=figures,
        shown=[address for address, quantity in figures.items() if quantity.value],
        beneath={**sums},
        assumptions=[in_format(model, question)],
        conventions=conventions(model, question),
        warnings=warnings(model, question),
    )


def held(model: Model, question: Question) -> tuple[Quantity, Figures]:
    """Bytes of every parameter once, a tied head with the table; and what they are made of."""
    storage = Storage(model, question)
    by_role = {} if storage.is_flat else _by_role(model, storage)
    return _whole(model, storage, by_role), {**params.totals(model), **by_role}


def _whole(model: Model, storage: Storage, by_role: Figures) -> Quantity:
    """Bytes of all weights; in one flat number their count times its size."""
    if storage.is_flat:
        return product(params.totals(model)["params.total"], storage.number)
    own = (name for name in by_role if not model.stacks or name not in _BESIDE)
    return total((by_role[name] for name in own), "bytes")


def _by_role(model: Model, storage: Storage) -> Figures:
    """Bytes of the weights that serve each role, zero for a role that has none."""
    rows: dict[Role, list[Row]] = {role: [] for role in get_args(Role)}
    for row in model.rows:
        rows[row.role].append(row)
    return {f"weights.{role}": storage.bytes(rows_of) for role, rows_of in rows.items()}


def _modules(model: Model) -> Quantity:
    """Parameters of the multi-token-prediction modules."""
    rows = (row for row in model.rows if row.component == "mtp")
    return total(
        (product(r.times, r.declared.stored) for r in rows if isinstance(r.declared, Weight)),
        params.UNIT,
    )


def in_format(model: Model, question: Question) -> str:
    """The weights' format as an assumption."""
    if question.checkpoint is not None:
        return f"weights in the types of {question.checkpoint.source}"
    chosen = question.weight_formats(model.stored)
    own = f" ({model.stored})" if is_own(question.weights) else ""
    named = f"weights {question.weights or question.dtype}{own}"
    if isinstance(chosen.base, Mix):
        release = f"by llama.cpp {chosen.base.release} without an importance matrix"
        return f"{named} {release}, q, k and v apart"
    return named if chosen.number else f"{named}, the rest {question.dtype}"


def conventions(model: Model, question: Question) -> list[str]:
    """What is left out, and what a flat narrow format means and a checkpoint would have."""
    lines = [TEXT_ALONE] if model.towers else []
    name = question.weight_formats(model.stored).number
    if name in SCHEME_OF and question.checkpoint is None:
        wide = f"a checkpoint leaves those wide: --weights {SCHEME_OF[name]}"
        lines.append(f"{name}: every parameter alike, tables, head and norms too; {wide}")
    return lines


def warnings(model: Model, question: Question) -> list[str]:
    """A warning where a checkpoint is stored otherwise than the weights are counted."""
    if model.stored is None or question.weights is not None or question.checkpoint is not None:
        return []
    counted = f"its weights are counted in {question.dtype}, not as --weights own"
    return [f"{model.name} is stored as {model.stored}: {counted}"]


ACCOUNT = Account(reads=("dtype", "weights", "mtp", "checkpoint"), make=report)
