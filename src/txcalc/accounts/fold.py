"""Sums over the rows of a model: every figure above a row is made here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import TypeVar

from txcalc.exact.quantity import Quantity, product, total
from txcalc.model.model import Layers, Model, Row
from txcalc.model.rows import Op, Role, Scan, State, Weight
from txcalc.report import address
from txcalc.report.report import Figures
from txcalc.workload.passes import Pass

Cost = Callable[[Row], Quantity | None]
"""What one layer's row adds to a figure; None where it does not count there."""
Leaves = dict[str, dict[str, Quantity]]
"""Component -> name -> quantity of one layer."""
Times = Callable[[Layers], Quantity]
"""How many layers of a kind count: those that a pass runs, that are stored, or that keep state."""
T = TypeVar("T")


def once(of: Callable[[Model], T]) -> Callable[[Model], T]:
    """A function of a model alone that keeps its answer with the model."""
    key = f"{of.__module__}.{of.__qualname__}"

    @wraps(of)
    def kept(model: Model) -> T:
        if key not in model.__dict__:
            model.__dict__[key] = of(model)
        answer: T = model.__dict__[key]
        return answer

    return kept


SIDES: tuple[Role, ...] = ("tower", "projector")
"""What stands beside the text model."""


def flops(row: Row, given: Pass, per_mac: Quantity) -> Quantity | None:
    """Cost of a row's product in the unit of ``per_mac``; None where it has none."""
    match row.declared:
        case Weight(use="matmul") as weight:
            return product(per_mac, weight.macs, multiplied(weight, given))
        case Op() as op:
            return product(per_mac, per_pair(op, given), given.pairs(op.reach))
        case Scan() as scan:
            return product(per_mac, scan.width, given.tokens)
        case Weight() | State():
            return None


def multiplied(weight: Weight, given: Pass) -> Quantity:
    """Tokens that a pass multiplies a weight with."""
    return given.multiplied(weight.stream, weight.reach)


def per_pair(op: Op, given: Pass) -> Quantity:
    """Multiply-adds of a query-key pair, in the form that a pass takes."""
    return op.absorbed if given.mla == "absorbed" else op.expanded


def leaves(rows: Iterable[Row], cost: Cost) -> Leaves:
    """What each row adds, by component."""
    leaves: Leaves = {}
    for row in rows:
        if (added := cost(row)) is not None:
            leaves.setdefault(row.component, {})[row.name] = added
    return leaves


def fold(
    account: str, model: Model, costs: Leaves, times: Times, beside: Sequence[str], unit: str
) -> Figures:
    """Rows, the sums above them, ``ACCOUNT.blocks`` (each kind ``times`` its layers) and the total.

    ``beside`` are the components outside of blocks.
    """
    figures: Figures = {}
    blocks = [f"block.{kind.name}" for kind in model.layers]
    for component in (*beside, *blocks):
        figures |= tree(f"{account}.{component}", costs.get(component, {}), unit)
    each = {block: figures[f"{account}.{block}"] for block in blocks}
    figures[f"{account}.blocks"] = over_all(model, each, times, unit)
    whole = (figures[f"{account}.{component}"] for component in ("blocks", *beside))
    figures[f"{account}.total"] = total(whole, unit)
    return figures


def of_towers(account: str, model: Model, costs: Leaves, times: Times, unit: str) -> Figures:
    """``ACCOUNT.tower`` and ``ACCOUNT.projector``, each with what stands below it by name."""
    kinds = {row.component: row.layers for row in model.rows if row.layers}
    figures: Figures = {}
    for role in SIDES:
        sides = []
        for name in model.towers:
            at = f"{role}.{name}"
            components = [part for part in costs if address.is_below(part, at)]
            for part in components:
                figures |= tree(f"{account}.{part}", costs[part], unit)
            of_side = [
                product(times(kinds[part]), whole) if part in kinds else whole
                for part in components
                for whole in (figures[f"{account}.{part}"],)
            ]
            figures[f"{account}.{at}"] = total(of_side, unit)
            sides.append(figures[f"{account}.{at}"])
        figures[f"{account}.{role}"] = total(sides, unit)
    return figures


def run(kind: Layers) -> Quantity:
    """Layers that a pass runs."""
    return kind.count


def stored(kind: Layers) -> Quantity:
    """Sets of weights."""
    return kind.sets


def keeping(kind: Layers) -> Quantity:
    """Layers that keep state."""
    return kind.states


def tree(root: str, rows: Mapping[str, Quantity], unit: str) -> Figures:
    """Rows (``attention.q`` -> quantity) below an address, each group's sum before its members."""
    groups: dict[str, dict[str, Quantity]] = {}
    for name, quantity in rows.items():
        first, _, rest = name.partition(".")
        groups.setdefault(first, {})[rest] = quantity
    below: Figures = {}
    members = [f"{root}.{group}" for group in groups]
    for member, inner in zip(members, groups.values(), strict=True):
        below |= {member: inner[""]} if "" in inner else tree(member, inner, unit)
    return {root: total((below[member] for member in members), unit), **below}


def sums(costs: Iterable[tuple[Row, Quantity | None]], unit: str) -> dict[str, Quantity]:
    """What the rows of each component add together."""
    terms: dict[str, list[Quantity]] = {}
    for row, cost in costs:
        if cost is not None:
            terms.setdefault(row.component, []).append(cost)
    return {component: total(quantities, unit) for component, quantities in terms.items()}


def over_all(model: Model, components: Mapping[str, Quantity], times: Times, unit: str) -> Quantity:
    """Components outside of blocks once, and each kind of block ``times`` its layers."""
    kinds = model.kinds
    return total(
        (
            product(times(kinds[component]), quantity) if component in kinds else quantity
            for component, quantity in components.items()
        ),
        unit,
    )


def select(rows: Mapping[str, Quantity], names: Iterable[str], unit: str) -> Quantity:
    """The sum of some rows."""
    return total((rows[name] for name in names), unit)


def shares(
    figures: Figures, root: str, shown: Iterable[str], model: Model, times: Times
) -> Figures:
    """Parts of a whole: of all layers of a kind in the total, within a block of one layer of it.

    See :func:`txcalc.report.address.whole`.
    """
    kinds = {address.block(root, kind.name): kind for kind in model.layers}
    shares: Figures = {}
    for name in shown:
        whole = figures[address.whole(name, root)]
        part = product(times(kinds[name]), figures[name]) if name in kinds else figures[name]
        if whole.value:
            shares[name] = part / whole
    return shares


def shown_blocks(root: str, parts: Iterable[str], figures: Figures, model: Model) -> list[str]:
    """Each kind of block, whatever it has, and those of its ``parts`` that are not zero."""
    return [
        name
        for kind in model.layers
        for part in parts
        if (name := address.block(root, kind.name) + part) in figures
        and (figures[name].value or not part)
    ]


def of_which(shown: Iterable[str]) -> dict[str, str]:
    """Labels of figures that count again what stands in those beside them."""
    uses = ("matmul", "biases")
    named = {name: name.rpartition(".")[2] for name in shown}
    return {name: f"of which {use}" for name, use in named.items() if use in uses}


def layer_notes(root: str, model: Model) -> dict[str, str]:
    """How many layers each block stands for, and how often a pass runs each."""
    return {f"{root}.block.{kind.name}": _times(kind) for kind in model.layers}


def _times(kind: Layers) -> str:
    if kind.block.loops is None:
        return f"x {kind.count.value:,}"
    loops = kind.block.loops.value
    return f"x {kind.count.value // loops:,}, {loops:,} loops"
