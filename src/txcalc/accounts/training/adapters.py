"""Adapters of low rank: the weights that they add, and the gradients that they leave out."""

from __future__ import annotations

from collections.abc import Iterator

from txcalc.accounts.fold import flops
from txcalc.errors import OptionError, RefusedError, nearest
from txcalc.exact.quantity import TWO, Quantity, product, total
from txcalc.model.model import Layers, Model, Row
from txcalc.model.rows import Op, Weight, linear
from txcalc.workload.passes import Pass
from txcalc.workload.training import Lora

_FUSED = {"qkv": ("q", "k", "v"), "gate_up": ("gate", "up")}
"""Targets that are one matrix of several projections."""
_ENTRY = ("q", "k", "v")
"""The projections of attention that read the block's input."""
_ROLES = ("attention", "ffn")


class Adapters:
    """The adapters of a model, layer kind by layer kind.

    Raises:
        OptionError: a target that no block has.
        RefusedError: a model whose adapters no measurement confirms.
    """

    def __init__(self, model: Model, lora: Lora) -> None:
        self.model, self.lora = model, lora
        if model.has_encoder:
            raise RefusedError(f"{model.name}: --lora is known of decoders alone")
        for kind in model.layers:
            if kind.block.attention is None or kind.block.ssm is not None:
                raise RefusedError(
                    f"{model.name}: --lora is known of blocks with attention, not of {kind.name!r}"
                )
            self._check(kind)

    def rows(self) -> Iterator[Row]:
        """The adapters' weights as rows of the model."""
        for kind in self.model.layers:
            for target in self.lora.targets:
                for weight in self._pair(kind, target):
                    name = f"adapters.{weight.name}"
                    yield Row(f"block.{kind.name}", name, "tensors", kind.stack, weight, kind)

    def unneeded(self, given: Pass, per_mac: Quantity, *, keeps_scores: bool) -> Iterator[Quantity]:
        """Gradients that the first layer leaves out: below it nothing is trained.

        Neither its projections nor their adapters pass a gradient to its input; attention that
        keeps its scores passes none to projections that are frozen.
        """
        kind = self._first
        targets = {part for t in self.lora.targets for part in _FUSED.get(t, (t,))}
        trained = [name for name in _ENTRY if name in targets]
        if not trained:
            raise RefusedError(
                f"{self.model.name}: --lora without q, k or v: where the gradients of the first "
                "layer end is not known; name one of them"
            )
        for name in _ENTRY:
            if (weight := kind.weights.get(f"attention.{name}")) is not None:
                yield product(per_mac, weight.macs, given.tokens)
        for target in self.lora.targets:
            if set(_FUSED.get(target, (target,))) <= set(_ENTRY):
                first, _ = self._pair(kind, target)
                yield product(per_mac, first.macs, given.tokens)
        if keeps_scores:
            for op in kind.operations.values():
                if isinstance(op, Op):
                    yield from self._frozen_scores(op, trained, given, per_mac)

    def _frozen_scores(
        self, op: Op, trained: list[str], given: Pass, per_mac: Quantity
    ) -> Iterator[Quantity]:
        """Gradients of queries, keys and values of the first layer that nothing needs."""
        pairs = given.pairs(op.reach)
        without = [width for name, width in zip(_ENTRY, (op.d_qk, op.d_qk, op.d_v), strict=True)
                   if name not in trained]  # fmt: skip
        if not {"q", "k"} & set(trained):
            without.append(op.d_v)  # nor is the gradient of the probabilities
        for width in without:
            yield product(per_mac, op.heads, width, pairs)

    @property
    def _first(self) -> Layers:
        """The kind of the first layer."""
        name = next(self.model.stacks["decoder"].layers())
        return self.model.kinds[f"block.{name}"]

    def _pair(self, kind: Layers, target: str) -> list[Weight]:
        """Down to the rank and up again."""
        found = self._targets(kind, target)
        rank: tuple[Quantity, ...] = (self.lora.rank,)
        if not found:
            return []
        outputs = found[0].outputs
        if target in _FUSED:
            outputs = (total((weight.written for weight in found), ""),)
        return [
            *linear(f"{target}_a", found[0].inputs, rank),
            *linear(f"{target}_b", rank, outputs),
        ]

    def _targets(self, kind: Layers, target: str) -> list[Weight]:
        """The weights of one layer that a target names."""
        parts = _FUSED.get(target, (target,))
        return [
            weight
            for part in parts
            for role in _ROLES
            if (weight := kind.weights.get(f"{role}.{part}")) is not None and _adaptable(weight)
        ]

    def _check(self, kind: Layers) -> None:
        known = [
            name.partition(".")[2]
            for name, weight in kind.weights.items()
            if name.partition(".")[0] in _ROLES and _adaptable(weight)
        ]
        for target in self.lora.targets:
            if len(self._targets(kind, target)) != len(_FUSED.get(target, (target,))):
                raise OptionError(
                    f"{self.model.name}: --lora: block {kind.name!r} has no projection {target!r}"
                    f"{nearest(target, known)}"
                )


def _adaptable(weight: Weight) -> bool:
    """A matrix of which there is one, that multiplies the block's own tokens."""
    is_one = weight.copies.value == 1 and weight.role is None
    return weight.use == "matmul" and is_one and weight.stream == "own"


def frozen(row: Row, given: Pass, per_mac: Quantity) -> Quantity | None:
    """The backward pass of a frozen row: of a weight the input's gradient alone."""
    cost = flops(row, given, per_mac)
    return cost if cost is None or isinstance(row.declared, Weight) else product(TWO, cost)
