"""Sums over rows: every figure above a row is made here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from txcalc.exact.quantity import Quantity, total
from txcalc.model.model import Layers, Model
from txcalc.report.report import Figures


def tree(address: str, rows: Mapping[str, Quantity], unit: str) -> Figures:
    """Rows (``attention.q`` -> quantity) below an address, each group's sum before its members."""
    groups: dict[str, dict[str, Quantity]] = {}
    for name, quantity in rows.items():
        first, _, rest = name.partition(".")
        groups.setdefault(first, {})[rest] = quantity
    below: Figures = {}
    members = [f"{address}.{group}" for group in groups]
    for member, inner in zip(members, groups.values(), strict=True):
        below |= {member: inner[""]} if "" in inner else tree(member, inner, unit)
    return {address: total((below[member] for member in members), unit), **below}


def select(rows: Mapping[str, Quantity], names: Iterable[str], unit: str) -> Quantity:
    """The sum of some rows."""
    return total((rows[name] for name in names), unit)


def shares(figures: Figures, root: str, shown: Iterable[str]) -> Figures:
    """Parts of a whole: what :func:`_whole` names for each address."""
    wholes = {address: figures[_whole(address, root, figures)] for address in shown}
    return {a: figures[a] / whole for a, whole in wholes.items() if whole.value}


def _whole(address: str, root: str, figures: Figures) -> str:
    """A component's matmul weights belong to the block's, likewise biases; a block to the total."""
    words = address.split(".")
    block = ".".join(words[:3])
    if words[1] != "block" or len(words) == 3:
        return f"{root}.total"
    same_kind = f"{block}.{words[-1]}"
    return same_kind if len(words) > 4 and same_kind in figures else block


def layer_notes(root: str, model: Model) -> dict[str, str]:
    """How many layers each block stands for, and how often a pass runs each."""
    return {f"{root}.block.{kind.name}": _times(kind) for kind in model.layers}


def _times(kind: Layers) -> str:
    if kind.block.loops is None:
        return f"x {kind.count.value:,}"
    loops = kind.block.loops.value
    return f"x {kind.count.value // loops:,}, {loops:,} loops"
