"""The tensors of a checkpoint held against the rows of a model."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from txcalc.accounts.matching.differences import Holding, extra, missing
from txcalc.accounts.matching.kinds import compared
from txcalc.accounts.matching.leftover import classified
from txcalc.accounts.matching.names import by_layer
from txcalc.accounts.matching.needs import Need, Place, places
from txcalc.accounts.matching.outside import Found, Others, modules_in, rows_outside
from txcalc.accounts.matching.stacks import Assigned, assigned
from txcalc.model.model import Model
from txcalc.report.report import Difference
from txcalc.workload.checkpoint import Checkpoint, StoredTensor


class Matching(msgspec.Struct, kw_only=True):
    """Every tensor of a checkpoint once: the rows that it holds, or why it holds none."""

    holdings: list[Holding]
    differences: list[Difference]
    modules: list[Holding]
    buffers: list[StoredTensor]
    tied: list[StoredTensor]
    scales: list[StoredTensor]
    uncovered: list[StoredTensor]
    others: list[StoredTensor]


def matched(model: Model, checkpoint: Checkpoint) -> Matching:
    """Each tensor with its rows, and each difference."""
    return _Matching(model, checkpoint).result()


class _Matching:
    def __init__(self, model: Model, checkpoint: Checkpoint) -> None:
        self._model, self._checkpoint = model, checkpoint
        self._found = Found([], [])
        self._others: Others = {}

    def result(self) -> Matching:
        """Layers first, then modules for further tokens, then what stands beside them."""
        chosen, unnumbered = self._layers()
        modules = modules_in(self._model, self._others)
        outside = rows_outside(self._model, self._others, chosen, unnumbered)
        holdings = [*self._found.holdings, *outside.holdings]
        left = classified(self._model, self._others.values(), holdings)
        known = {each.tensor.name for each in (*holdings, *modules.holdings)}
        known |= {t.name for t in (*left.buffers, *left.tied, *left.scales, *left.uncovered)}
        return Matching(
            holdings=holdings,
            differences=[
                *self._found.differences,
                *modules.differences,
                *outside.differences,
                *(extra(tensor, layer) for tensor, layer in left.extra),
            ],
            modules=modules.holdings,
            buffers=left.buffers,
            tied=left.tied,
            scales=left.scales,
            uncovered=left.uncovered,
            others=[t for t in self._checkpoint.tensors if t.name not in known],
        )

    def _layers(self) -> tuple[dict[str, Assigned], list[Need]]:
        """Compares the layers of each stack; what a lone layer needs may have no number at all."""
        stacked, others = by_layer(self._checkpoint.tensors)
        placed = places(self._model)
        chosen = assigned(placed, stacked)
        unnumbered: list[Need] = []
        for stack, of_stack in placed.items():
            if stack in chosen:
                self._stack(chosen[stack], of_stack)
            elif sum(len(place.layers) for place in of_stack) == 1:
                unnumbered += (need for place in of_stack for need in place.needs)
            else:
                self._found.differences += _all_missing(of_stack)
        taken = {prefix for each in chosen.values() for prefix in each.prefixes}
        for prefix, by_number in stacked.items():
            if prefix not in taken:
                self._leave((t, None) for tails in by_number.values() for t in tails.values())
        self._leave((tensor, None) for tensor in others.values())
        return chosen, unnumbered

    def _stack(self, chosen: Assigned, of_stack: Iterable[Place]) -> None:
        # A quantised GGUF file has some layers in wider types.
        one_type = self._checkpoint.kind == "safetensors"
        stored: set[int] = set()
        for place in of_stack:
            kind = compared(place, chosen.layers, chosen.prefix, one_type=one_type)
            self._found.holdings += kind.holdings
            self._found.differences += kind.differences
            self._leave(kind.others)
            stored |= set(place.layers)
        for i in chosen.layers.keys() - stored:
            self._leave((tensor, i) for tensor in chosen.layers[i].values())

    def _leave(self, tensors: Iterable[tuple[StoredTensor, int | None]]) -> None:
        self._others |= {tensor.name: (tensor, layer) for tensor, layer in tensors}


def _all_missing(of_stack: Iterable[Place]) -> list[Difference]:
    return [
        missing("", (need,), i, need.shape)
        for place in of_stack
        for need in place.needs
        for i in place.layers
    ]
