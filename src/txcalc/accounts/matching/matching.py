"""The tensors of a checkpoint held against the rows of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from txcalc.accounts.matching.cover import cover, items_of
from txcalc.accounts.matching.differences import Holding, extra, missing, other_shape
from txcalc.accounts.matching.kinds import compared
from txcalc.accounts.matching.leftover import classified, is_of_tower
from txcalc.accounts.matching.names import Tails, by_layer, pattern
from txcalc.accounts.matching.needs import Need, beside, is_beside_text, modules, places
from txcalc.accounts.matching.stacks import assigned
from txcalc.accounts.matching.words import concepts, is_computed, is_strange
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
        self._holdings: list[Holding] = []
        self._modules: list[Holding] = []
        self._differences: list[Difference] = []
        self._others: dict[str, tuple[StoredTensor, int | None]] = {}

    def result(self) -> Matching:
        """Layers first, then what stands beside them, then modules."""
        self._layers()
        self._mtp()
        self._beside()
        left = classified(self._model, self._others.values(), self._holdings)
        self._differences += [extra(tensor, layer) for tensor, layer in left.extra]
        of_rows = {h.tensor.name for h in (*self._holdings, *self._modules)}
        known = of_rows | {
            t.name for t in (*left.buffers, *left.tied, *left.scales, *left.uncovered)
        }
        return Matching(
            holdings=self._holdings,
            differences=self._differences,
            modules=self._modules,
            buffers=left.buffers,
            tied=left.tied,
            scales=left.scales,
            uncovered=left.uncovered,
            others=[t for t in self._checkpoint.tensors if t.name not in known],
        )

    def _layers(self) -> None:
        stacked, others = by_layer(self._checkpoint.tensors)
        placed = places(self._model)
        chosen = assigned(placed, stacked)
        for stack, of_stack in placed.items():
            prefixes = chosen.get(stack, [])
            layers = _merged({prefix: stacked[prefix] for prefix in prefixes})
            for place in of_stack:
                prefix = prefixes[0] if len(prefixes) == 1 else ""
                # A quantised GGUF file has some layers in wider types.
                one_type = self._checkpoint.kind == "safetensors"
                kind = compared(place, layers, prefix, one_type=one_type)
                self._holdings += kind.holdings
                self._differences += kind.differences
                self._leave((tensor, layer) for tensor, layer in kind.others)
            stored = {i for place in of_stack for i in place.layers}
            for i in layers.keys() - stored:
                self._leave((tensor, i) for tensor in layers[i].values())
        taken = {prefix for prefixes in chosen.values() for prefix in prefixes}
        text = [prefix for stack in self._model.stacks for prefix in chosen.get(stack, [])]
        self._towers = tuple(top(prefix, text) for prefix in taken if prefix not in text)
        for prefix, by_number in stacked.items():
            if prefix not in taken:
                self._leave((t, None) for tails in by_number.values() for t in tails.values())
        self._leave((tensor, None) for tensor in others.values())

    def _leave(self, tensors: Iterable[tuple[StoredTensor, int | None]]) -> None:
        self._others |= {tensor.name: (tensor, layer) for tensor, layer in tensors}

    def _mtp(self) -> None:
        """The modules for further tokens, which a file may leave out."""
        if self._model.mtp is None:
            return
        n_layers = max(int(stack.count.value) for stack in self._model.stacks.values())
        items = items_of(
            (name, pattern(name), tensor.shape, concepts(name))
            for name, (tensor, layer) in self._others.items()
            if (layer is not None and layer >= n_layers) or "mtp" in concepts(name)
        )
        covered = cover(items, modules(self._model)) if items else None
        for name, held in covered.covers.items() if covered else ():
            self._modules.append(Holding(self._others.pop(name)[0], held))
        for need in covered.needs if covered else ():
            self._differences.append(missing("", (need,), None, need.shape))

    def _beside(self) -> None:
        """Tables, head, norms and free tensors; of one that is tied nothing has to be there."""
        needs = [need for need in beside(self._model) if not need.weight.tied]
        of_towers = [need for need in needs if is_beside_text(need.row)]
        of_text = [need for need in needs if not is_beside_text(need.row)]
        for side, is_wanted in ((of_text, self._is_of_text), (of_towers, self._is_of_towers)):
            self._outside([name for name in self._others if is_wanted(name)], side)

    def _is_of_text(self, name: str) -> bool:
        return self._model.scope == "model" or not self._is_of_towers(name)

    def _is_of_towers(self, name: str) -> bool:
        """Whether a tensor is called as a tower's, or as those of its layers."""
        return is_of_tower(name) or name.startswith(self._towers) or not self._model.stacks

    def _outside(self, names: Sequence[str], needs: Sequence[Need]) -> None:
        """Rows outside of layers, each in a tensor of its own."""
        items = items_of(
            (name, pattern(name), self._others[name][0].shape, concepts(name))
            for name in names
            if not is_computed(name)
        )
        all_names = [tensor.name for tensor in self._checkpoint.tensors]
        items = [
            msgspec.structs.replace(item, is_strange=is_strange(item.pattern, all_names))
            for item in items
        ]
        covered = cover(items, needs)
        for name, held in covered.covers.items():
            tensor, layer = self._others.pop(name)
            if held.is_turned and held.needs[0].row.component in ("embedding", "head"):
                turned = other_shape(tensor, held.needs, layer, held.shape(None))
                self._differences.append(turned)
            else:
                self._holdings.append(Holding(tensor, held))
        unshaped = [msgspec.structs.replace(item, shape=None) for item in covered.items]
        again = cover(unshaped, covered.needs, least=0.5)
        for name, held in again.covers.items():
            tensor, layer = self._others.pop(name)
            self._differences.append(other_shape(tensor, held.needs, layer, held.shape(None)))
        self._differences += [missing("", (need,), None, need.shape) for need in again.needs]


def top(prefix: str, others: Iterable[str]) -> str:
    """The first modules of a prefix that none of the others has."""
    others = list(others)
    words = prefix.split(".")
    starts = (".".join(words[:n]) + "." for n in range(1, len(words)))
    return next((s for s in starts if not any(o.startswith(s) for o in others)), prefix)


def _merged(by_prefix: Mapping[str, Mapping[int, Tails]]) -> dict[int, Tails]:
    """The layers of a stack, of several prefixes each with its last word before the tails."""
    if len(by_prefix) == 1:
        return {i: dict(tails) for i, tails in next(iter(by_prefix.values())).items()}
    layers: dict[int, Tails] = {}
    for prefix, by_number in by_prefix.items():
        part = prefix.rstrip(".").rpartition(".")[2]
        for i, tails in by_number.items():
            layers.setdefault(i, {}).update({f"{part}.{t}": tensor for t, tensor in tails.items()})
    return layers
