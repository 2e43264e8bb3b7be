"""What the GPUs of a layout send each other in a pass, in bytes that leave one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from txcalc.accounts.fold import multiplied
from txcalc.accounts.operations import Work
from txcalc.accounts.setting import Setting
from txcalc.errors import RefusedError
from txcalc.exact.quantity import ONE, TWO, Quantity, product, total
from txcalc.model.model import Layers, Model, Row
from txcalc.model.order import branches
from txcalc.model.rows import Weight
from txcalc.report import address as grammar


class Sent(msgspec.Struct, frozen=True):
    """One kind of exchange: how often it takes place in a pass, and its bytes in all."""

    count: Quantity
    bytes: Quantity


_Parted = tuple[Row, Weight, Weight]
"""A row, its weight on a GPU, and the whole one."""


class Communication:
    """The exchanges of the stages of one pass.

    A matmul whose inputs the GPUs divide leaves each a partial sum of its output: one all-reduce of
    it, 2(n-1)/n of its elements (arXiv:1909.08053 section 3).  Sub-layers that leave the residual
    stream together share one, and a divided table of tokens has one.  The outputs of a divided head
    are gathered.  Tokens go to the experts that whole GPUs have, and come back.

    Raises:
        RefusedError: stages of a model that hands on more than one residual stream.
    """

    def __init__(self, setting: Setting, stages: Sequence[Work]) -> None:
        self._model, self._stages = setting.model, stages
        self._layout, self._bytes = stages[0].layout, setting.question.activation_bytes
        self._wholes = {row.address: row.declared for row in setting.model.rows}
        if len(stages) > 1:
            _refuse_stages(setting.model)

    def sent(self, work: Work) -> dict[str, Sent]:
        """Every kind that takes place in one of the stages, or from it to the next."""
        kinds = {
            "all_reduce": self._reduced(work),
            "experts": self._to_experts(work),
            "logits": self._gathered(work),
            "stages": self._handed_on(work),
        }
        return {name: self._sent(each) for name, each in kinds.items()}

    def _sent(self, exchanges: Iterable[tuple[Quantity, Quantity]]) -> Sent:
        counted = list(exchanges)
        elements = total((product(*both) for both in counted), "").counted_as("elements")
        count = total((count for count, _ in counted), "")
        return Sent(count, product(elements, self._bytes))

    def _reduced(self, work: Work) -> Iterator[tuple[Quantity, Quantity]]:
        """How often, and elements of each, of the all-reduces of a stage."""
        seen = set()
        for row, own, whole in self._parted(work):
            if product(*own.inputs).value == product(*whole.inputs).value:
                continue
            if own.use == "lookup" and work is not self._stages[0]:
                continue
            n = self._layout.experts if row.role == "experts" else self._layout.tp
            together = _leaves_with(row), own.written.value, n.value
            if together in seen:
                continue
            seen.add(together)
            tokens = multiplied(own, work.given(row))
            yield _layers(row), product(TWO, _others(n), tokens, own.written)

    def _to_experts(self, work: Work) -> Iterator[tuple[Quantity, Quantity]]:
        """Each token to the experts that it uses, and what they make of it back."""
        if not self._layout.ep:
            return
        seen = set()
        for row, own, whole in self._parted(work):
            if row.role != "experts" or row.layers is None or row.layers.name in seen:
                continue
            seen.add(row.layers.name)
            tokens = work.passes[row.given].tokens
            width = product(*own.inputs)
            out = product(_others(self._layout.experts), tokens, whole.used, width)
            yield product(TWO, _layers(row)), out

    def _gathered(self, work: Work) -> Iterator[tuple[Quantity, Quantity]]:
        """The logits of a divided head."""
        for row, own, whole in self._parted(work):
            if row.component == "head" and own.written.value != whole.written.value:
                elements = product(multiplied(own, work.given(row)), whole.written)
                yield ONE, product(_others(self._layout.tp), elements)

    def _handed_on(self, work: Work) -> Iterator[tuple[Quantity, Quantity]]:
        """The residual stream from a stage to the next."""
        if work is not self._stages[-1]:
            yield ONE, product(work.passes["main"].tokens, self._model.d_model)

    def _parted(self, work: Work) -> Iterable[_Parted]:
        for row in work.rows:
            own, whole = row.declared, self._wholes[row.address]
            if not isinstance(own, Weight) or own.use not in ("matmul", "lookup"):
                continue
            if isinstance(whole, Weight) and multiplied(own, work.given(row)).value:
                yield row, own, whole


def _others(n: Quantity) -> Quantity:
    """The part of what n GPUs share that is on the others."""
    return (n - ONE) / n


def _layers(row: Row) -> Quantity:
    return ONE if row.layers is None else row.layers.count


def _leaves_with(row: Row) -> str:
    """Where a row's output leaves to: its component, or the first of the sub-layers beside it."""
    if row.layers is None:
        return row.address
    return f"{row.component}.{_first_beside(row.layers, grammar.first(row.name))}"


def _first_beside(kind: Layers, slot: str) -> str:
    if kind.block.placement in ("parallel", "parallel_two_norms"):
        return kind.block.roles[0]
    groups = (group for group in branches(kind.block.roles) if slot in group)
    return next((group[0] for group in groups), slot)


def _refuse_stages(model: Model) -> None:
    """Refuses stages between which more than one stream of the decoder is handed on."""
    if model.has_encoder and model.has_decoder:
        raise RefusedError(f"{model.name}: no time of stages that hand on an encoder's output")
    if any(block.residual is not None for block in model.blocks.values()):
        raise RefusedError(f"{model.name}: no time of stages that hand on several streams")
