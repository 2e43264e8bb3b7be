"""Names of tensors: where in a stack they stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from txcalc.workload.checkpoint import StoredTensor

Tails = dict[str, StoredTensor]
Stacked = dict[str, dict[int, Tails]]
"""Prefix -> number of the layer -> what follows it in a name -> tensor."""

_INNER = re.compile(r"(?<![^.])(?:expert_)?\d+(?![^.])", re.ASCII)
_NUMBER = re.compile(r"(?<![^.])(\d+)(?![^.])", re.ASCII)


def by_layer(tensors: Iterable[StoredTensor]) -> tuple[Stacked, Tails]:
    """Tensors by the first number in their names, and those that have none."""
    stacked: Stacked = {}
    others: Tails = {}
    for tensor in tensors:
        number = _NUMBER.search(tensor.name)
        if number is None or number.end() == len(tensor.name) or len(number[1]) > 6:
            others[tensor.name] = tensor
            continue
        prefix, tail = tensor.name[: number.start()], tensor.name[number.end() + 1 :]
        stacked.setdefault(prefix, {}).setdefault(int(number[1]), {})[tail] = tensor
    return stacked, others


def pattern(tail: str) -> str:
    """A name with a star for each number."""
    return _INNER.sub("*", tail)


def masks_in(names: Collection[str]) -> set[str]:
    """Biases of modules that hold no weight but further modules: masks, as GPT-2's attn.bias."""
    lone = {n for n in names if n.endswith(".bias") and f"{n[:-5]}.weight" not in names}
    around = {start for name in names for start in (parent(parent(name)),)}
    return {name for name in lone if parent(name) in around}


def parent(prefix: str) -> str:
    """What stands before the last word of a prefix."""
    return prefix.rstrip(".").rpartition(".")[0]
