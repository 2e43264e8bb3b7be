"""What a GPU of a stage runs in a pass, operation by operation: FLOPs and bytes of each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from txcalc.accounts import fold, traffic
from txcalc.accounts.kvcache import CacheFormats
from txcalc.accounts.setting import Setting
from txcalc.accounts.storage import Storage
from txcalc.exact.quantity import ONE, Quantity, defined, product, total
from txcalc.model.cut import held
from txcalc.model.model import Row
from txcalc.model.rows import State, Weight
from txcalc.model.stages import Stage
from txcalc.report import address as grammar
from txcalc.workload.layout import Layout
from txcalc.workload.passes import Pass, Workload, per_multiply_add

PARTS = ("projections", "scores", "ssm", "cross_attention", "ffn", "residual", "tensors", "norms")
"""The components of a block, in their order."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """The product of a weight, or a part's products without one and their state, in all layers.

    ``component`` is where it stands: ``block.NAME.projections``, ``head``; ``read`` are bytes of
    its weight, None where it has none, and ``bytes`` all that it reads and writes.
    """

    component: str
    flops: Quantity
    read: Quantity | None
    bytes: Quantity


class Work:
    """One pass over a stage: what a GPU runs of it.

    Each data-parallel group has an equal share of the sequences; of routed experts a GPU runs its
    share for the tokens of all groups.
    """

    def __init__(self, setting: Setting, workload: Workload, stage: int = 0) -> None:
        question = setting.question
        self.layout, self.workload = question.layout, _of_group(workload, question.layout)
        self.passes = setting.passes(self.workload)
        self._of_all = self.passes if question.dp == 1 else setting.passes(workload)
        layers = Stage(setting.model, self.layout, stage).layers.get("decoder")
        self._storage = Storage(setting.model, question, layers=layers)
        self._formats = CacheFormats(setting.model, question)
        self._activation = question.activation_bytes
        self._per_mac = per_multiply_add(macs=False, phase=workload.phase)
        self.rows = _rows(setting, stage)

    def operations(self) -> list[Operation]:
        """Those that the pass runs, in the order of the model's parts."""
        made, without = [], dict[str, list[Row]]()
        for row in self.rows:
            if not isinstance(row.declared, Weight):
                without.setdefault(f"{row.component}.{_slot(row)}", []).append(row)
            elif (read := traffic.read(row, self.given(row), self._storage)) is not None:
                made.append(self._made([row], read))
        of_parts = (self._made(rows, None) for rows in without.values())
        made += [each for each in of_parts if each.flops.value or each.bytes.value]
        blocks = list(dict.fromkeys(row.component for row in self.rows))
        return sorted(made, key=lambda each: _place(each.component, blocks))

    def given(self, row: Row) -> Pass:
        """What a pass gives a row."""
        return (self._of_all if row.role == "experts" else self.passes)[row.given]

    def _made(self, rows: Sequence[Row], read: Quantity | None) -> Operation:
        """The operation of rows that the same layers have."""
        layers = rows[0].layers
        count, sets = (ONE, ONE) if layers is None else (layers.count, layers.sets)
        given = [(row, self.given(row)) for row in rows]
        costs = (fold.flops(row, of, self._per_mac) for row, of in given)
        elements = (traffic.passed(row, of) for row, of in given)
        passed = total((each for each in elements if each is not None), "").counted_as("elements")
        weight = None if read is None else product(sets, read)
        moved = [] if weight is None else [weight]
        moved.append(product(count, passed, self._activation))
        if layers is not None and layers.stack == "decoder":
            states = [row.declared for row in rows if isinstance(row.declared, State)]
            each = traffic.of_state(states, self.workload, self._formats)
            moved.append(product(layers.states, self.workload.batch, each))
        return Operation(
            component=_component(rows[0]),
            flops=product(count, total((cost for cost in costs if cost is not None), "FLOPs")),
            read=weight,
            bytes=total(moved, "bytes"),
        )


def _of_group(workload: Workload, layout: Layout) -> Workload:
    """The workload of one data-parallel group."""
    if layout.dp.value == 1:
        return workload
    batch = defined("batch_gpu", workload.batch / layout.dp, about="sequences of one group")
    return msgspec.structs.replace(workload, batch=batch)


def _rows(setting: Setting, stage: int) -> list[Row]:
    """The rows that a GPU holds, without modules that a pass does not run."""
    layout = setting.question.layout
    whole = layout.gpus.value == layout.multiple == 1
    rows = setting.model.text_rows if whole else held(setting.model, layout, stage)
    run = {"encoder", "decoder", "every", "main", "head"}
    return [_used(row, layout) for row in rows if row.given in run]


def _used(row: Row, layout: Layout) -> Row:
    """A row of experts that are shared out whole, of which a GPU runs as large a part."""
    weight = row.declared
    if not layout.ep or row.role != "experts" or not isinstance(weight, Weight):
        return row
    used = weight.used / layout.experts
    return msgspec.structs.replace(row, declared=msgspec.structs.replace(weight, used=used))


def _place(component: str, blocks: Sequence[str]) -> tuple[int, int]:
    """Where a component stands among all."""
    for i, block in enumerate(blocks):
        if component == block:
            return i, 0
        if grammar.is_below(component, block):
            return i, PARTS.index(grammar.below(component, block))
    raise AssertionError(component)


def _slot(row: Row) -> str:
    return grammar.first(row.name)


def _component(row: Row) -> str:
    """Where a row's operation stands: a component, or of a block its part."""
    if row.layers is None:
        return row.component
    slot = _slot(row)
    if slot == "attention":
        slot = "projections" if isinstance(row.declared, Weight) else "scores"
    return f"{row.component}.{slot}"
