"""``model.safetensors.index.json``: which shard holds which tensor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from txcalc.errors import DescriptionError
from txcalc.sources.checkpoints.pieces import file_of
from txcalc.sources.checkpoints.safetensors import LONGEST_HEADER, tensors_of
from txcalc.sources.files import read_bytes
from txcalc.sources.json import parse
from txcalc.workload.checkpoint import Checkpoint, StoredTensor


def indexed(path: str) -> Checkpoint:
    """The checkpoint of an index: its shards beside it, or the names alone where none is there.

    Raises:
        DescriptionError: a file that is no index, or shards that are not as it says.
    """
    text = read_bytes(path, LONGEST_HEADER)
    shards, total = read_index(text, path)
    folder = os.path.dirname(path)
    there = {shard: os.path.exists(os.path.join(folder, shard)) for shard in set(shards.values())}
    if not any(there.values()):
        return names_only(path, shards, total)
    if missing := sorted(shard for shard, is_there in there.items() if not is_there):
        raise DescriptionError(
            f"{len(missing)} of its {len(there)} shards are missing: {', '.join(missing[:3])}",
            where=path,
        )

    def local(shard: str) -> tuple[StoredTensor, ...]:
        with file_of(os.path.join(folder, shard)) as file:
            return tensors_of(file)

    return sharded(path, shards, total, local)


def names_only(source: str, shards: Mapping[str, str], total: int | None) -> Checkpoint:
    """The names that an index lists."""
    return Checkpoint(
        source=source, kind="safetensors", tensors=tuple(map(StoredTensor, shards)),
        names_only=True, total_size=total,
    )  # fmt: skip


def sharded(
    source: str,
    shards: Mapping[str, str],
    total: int | None,
    header: Callable[[str], tuple[StoredTensor, ...]],
) -> Checkpoint:
    """All shards by their headers, each of which holds what the index says, and nothing else."""
    by_shard: dict[str, set[str]] = {}
    for name, shard in shards.items():
        by_shard.setdefault(shard, set()).add(name)
    tensors: list[StoredTensor] = []
    for shard, names in sorted(by_shard.items()):
        held = header(shard)
        _check(source, shard, names, (tensor.name for tensor in held))
        tensors += held
    return Checkpoint(source=source, kind="safetensors", tensors=tuple(tensors), total_size=total)


def read_index(text: bytes, where: str) -> tuple[dict[str, str], int | None]:
    """The shard of each tensor, and the bytes of all where the index states them."""
    tree = parse(text, where, unique=True)
    shards, metadata = tree.get("weight_map"), tree.get("metadata")
    if not isinstance(shards, dict) or not shards:
        raise DescriptionError("no index of safetensors files: no weight_map", where=where)
    for name, shard in shards.items():
        if not isinstance(shard, str) or os.path.basename(shard) != shard or not shard:
            raise DescriptionError(f"weight_map: {name!r} is in no file beside it", where=where)
        if not shard.endswith(".safetensors"):
            raise DescriptionError(
                f"an index of {shard!r}: that of safetensors files is wanted", where=where
            )
    return shards, _total(metadata)


def _total(metadata: Any) -> int | None:
    """``total_size``, which some writers leave at 0."""
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(total, float) and total.is_integer():
        total = int(total)
    return total if isinstance(total, int) and total > 0 else None


def _check(where: str, shard: str, listed: set[str], held: Iterable[str]) -> None:
    there = set(held)
    for names, what in ((listed - there, "does not hold"), (there - listed, "also holds")):
        if names:
            name = min(names)
            raise DescriptionError(
                f"its shard {shard} {what} {name!r}"
                + (f" and {len(names) - 1} more" if len(names) > 1 else ""),
                where=where,
            )
