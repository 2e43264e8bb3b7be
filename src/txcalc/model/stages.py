"""Pipeline stages: which layers each has, and which of the rows outside of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from txcalc.model.model import Model, Row
from txcalc.workload.layout import Layout


class Stage:
    """One stage: by stack its ``layers``, as places in the order of that stack, and their blocks.

    The layers of all stacks are shared out in the order in which they run, an encoder's first.

    Raises:
        OptionError: stages that are not those of the model.
    """

    def __init__(self, model: Model, layout: Layout, number: int) -> None:
        self._head, self._number = model.head, number
        self._is_last = number == int(layout.pp.value) - 1
        self._counts = {name: int(stack.count.value) for name, stack in model.stacks.items()}
        sizes = layout.layers(sum(self._counts.values()))
        start = sum(sizes[:number])
        self.layers = dict(_of_stacks(self._counts, range(start, start + sizes[number])))
        self.blocks = {
            name: list(model.stacks[name].layers())[layers.start : layers.stop]
            for name, layers in self.layers.items()
        }

    def holds(self, row: Row) -> bool:
        """Whether it holds a row of the model."""
        if row.layers is not None:
            return row.layers.name in self.blocks[row.layers.stack]
        return _OUTSIDE[row.component](self, row)

    def _looks_up(self, row: Row) -> bool:
        """A table stands where a stack that reads it begins, and one tied to the head at its end.

        Megatron-LM's pipelines of encoders and decoders: arXiv:2104.04473's code,
        megatron/core/parallel_state.py, embedding groups.
        """
        is_tied = self._head is not None and self._head.tied
        is_output = row.name.startswith("tokens") and is_tied
        begins = (self._begins(stack) for stack in self._stacks_of(row))
        return any(begins) or (is_output and self._is_last)

    def _ends(self, row: Row) -> bool:
        """The norm after the last layer of a stack."""
        return any(
            self.layers[stack] and self.layers[stack].stop == self._counts[stack]
            for stack in self._stacks_of(row)
        )

    def _begins(self, stack: str) -> bool:
        return bool(self.layers[stack]) and self.layers[stack].start == 0

    def _stacks_of(self, row: Row) -> list[str]:
        """The stack that a row's name ends with, or all."""
        stack = row.name.rpartition(".")[2]
        return [stack] if stack in self._counts else list(self._counts)

    def _is_at_start(self, _: Row) -> bool:
        return self._number == 0

    def _is_at_end(self, _: Row) -> bool:
        return self._is_last


_OUTSIDE: Mapping[str, Callable[[Stage, Row], bool]] = {
    "embedding": Stage._looks_up,
    "final_norm": Stage._ends,
    "head": Stage._is_at_end,
    "mtp": Stage._is_at_end,
    "tensors": Stage._is_at_start,
}
"""By component outside of blocks whether a stage holds a row of it."""


def _of_stacks(counts: Mapping[str, int], layers: range) -> Iterator[tuple[str, range]]:
    """Some of the layers of all stacks, one stack after another, as places in each."""
    before = 0
    for name, count in counts.items():
        start, stop = (min(max(at - before, 0), count) for at in (layers.start, layers.stop))
        yield name, range(start, stop)
        before += count
