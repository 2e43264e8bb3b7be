"""The formats of a model's weights as a checkpoint's headers state them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from txcalc.accounts.matching.differences import Holding
from txcalc.accounts.matching.matching import Matching, matched
from txcalc.errors import RefusedError
from txcalc.model.model import Model, Row
from txcalc.workload.checkpoint import Checkpoint, format_of
from txcalc.workload.formats import Format


class Typed:
    """The types in which a checkpoint holds a model: of all layers, or of a range.

    Raises:
        RefusedError: a checkpoint that does not hold the model, that shows no types, or whose
            weights have scales beside them.
    """

    def __init__(self, model: Model, checkpoint: Checkpoint, layers: range | None = None) -> None:
        self._model, self._layers = model, layers
        found = _matched(_Same(model), _Same(checkpoint))
        self._check(found, checkpoint)
        self._formats: dict[str, dict[int | None, Format]] = {}
        for holding in (*found.holdings, *found.modules):
            self._add(holding)

    def formats(self, row: Row) -> tuple[Format, ...]:
        """The format of a row's weight, once or for each layer that has it."""
        by_layer = self._formats.get(row.address)
        if by_layer is None:
            raise RefusedError(
                f"{self._model.name}: the checkpoint does not hold its {row.address}"
            )
        formats = tuple(fmt for i, fmt in sorted(by_layer.items(), key=_number) if self._counts(i))
        return formats if len(set(formats)) > 1 else formats[:1]

    def _counts(self, layer: int | None) -> bool:
        return self._layers is None or layer is None or layer in self._layers

    def _add(self, holding: Holding) -> None:
        fmt = format_of(holding.tensor.dtype)
        for need in holding.cover.needs:
            by_layer = self._formats.setdefault(need.row.address, {})
            if by_layer.setdefault(holding.layer, fmt) != fmt:
                raise RefusedError(
                    f"{self._model.name}: the copies of its {need.row.address} are in several "
                    f"types: {by_layer[holding.layer].name}, {fmt.name}"
                )

    def _check(self, found: Matching, checkpoint: Checkpoint) -> None:
        wrong = sum(each.what in ("missing", "other shape") for each in found.differences)
        why = ""
        if checkpoint.names_only:
            why = "an index without its shards shows no types"
        elif wrong:
            why = f"it lacks {wrong:,} tensors of the model, as verify shows"
        elif found.scales:
            why = f"its weights have scales beside them ({found.scales[0].name}): take --weights"
        if why:
            raise RefusedError(f"{self._model.name}: no types of {checkpoint.source}: {why}")


class _Same:
    """A value that equals itself alone, so that it need not be hashed."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(maxsize=2)
def _matched(model: _Same, checkpoint: _Same) -> Matching:
    """The matching that all stages and ways of one question have in common."""
    return matched(model.value, checkpoint.value)


def _number(item: tuple[int | None, Format]) -> int:
    return -1 if item[0] is None else item[0]
