"""The header of a safetensors file, checked as strictly as its own library does.

https://github.com/huggingface/safetensors: 8 bytes of length, a JSON object, and the data.
"""

from __future__ import annotations

from typing import Any

from txcalc.errors import DescriptionError, nearest
from txcalc.sources.checkpoints.pieces import Pieces, file_of
from txcalc.sources.json import parse
from txcalc.workload.checkpoint import BITS, Checkpoint, StoredTensor, bytes_of

LONGEST_HEADER = 100_000_000
"""MAX_HEADER_SIZE of the library."""
_LARGEST = 2**64 - 1
_LENGTH = 8


def single(path: str) -> Checkpoint:
    """The checkpoint of one file."""
    with file_of(path) as file:
        return Checkpoint(source=path, kind="safetensors", tensors=tensors_of(file))


def tensors_of(file: Pieces) -> tuple[StoredTensor, ...]:
    """The tensors of a file by its header; nothing else of it is read.

    Raises:
        DescriptionError: a header or a file that the library refuses, or one that names a tensor
            twice.
    """
    where = file.name
    if file.size < _LENGTH:
        raise DescriptionError(f"{file.size} bytes: too short for a safetensors file", where=where)
    length = int.from_bytes(file.piece(0, _LENGTH), "little")
    if length > LONGEST_HEADER or length > file.size - _LENGTH:
        raise DescriptionError(
            f"no safetensors file, or a damaged one: a header of {length:,} bytes in a file of "
            f"{file.size:,}",
            where=where,
        )
    text = file.piece(_LENGTH, length)
    if not text.startswith(b"{"):
        raise DescriptionError("no safetensors file: its header is no JSON object", where=where)
    return _checked(parse(text, where, unique=True), where, file.size - _LENGTH - length)


def _checked(header: dict[str, Any], where: str, data: int) -> tuple[StoredTensor, ...]:
    """The tensors of a header whose ``data`` bytes they fill without a gap."""
    _check_metadata(header.pop("__metadata__", None), where)
    tensors, ends = [], []
    for name, entry in header.items():
        tensor, start, end = _tensor(name, entry, where)
        tensors.append(tensor)
        ends.append((start, end, name))
    last = 0
    for start, end, name in sorted(ends):
        if start != last:
            what = "overlap" if start < last else "leave a gap"
            raise DescriptionError(
                f"damaged: offsets {what} before {name!r}: it begins at {start:,}, not at {last:,}",
                where=where,
            )
        last = end
    if last != data:
        what = "truncated" if last > data else "damaged"
        raise DescriptionError(
            f"{what}: its tensors take {last:,} bytes, but {data:,} follow the header", where=where
        )
    return tuple(tensors)


def _tensor(name: str, entry: Any, where: str) -> tuple[StoredTensor, int, int]:
    at = f"{where}: tensor {name!r}"
    if not isinstance(entry, dict):
        raise DescriptionError("an object with dtype, shape and data_offsets is needed", where=at)
    dtype, offsets = entry.get("dtype"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in BITS:
        hint = nearest(dtype, list(BITS)) if isinstance(dtype, str) else ""
        raise DescriptionError(f"dtype {str(dtype)[:40]!r} is not known{hint}", where=at)
    shape = _sizes("shape", entry.get("shape"), at)
    if not isinstance(offsets, list) or len(offsets) != 2:
        raise DescriptionError("data_offsets are two numbers, where it begins and ends", where=at)
    start, end = _sizes("data_offsets", offsets, at)
    needed = bytes_of(dtype, shape)
    if needed.denominator != 1 or needed > _LARGEST or end - start != needed:
        raise DescriptionError(
            f"damaged: shape {list(shape)} in {dtype} takes {float(needed):,.15g} bytes, but its "
            f"offsets leave {end - start:,}",
            where=at,
        )
    return StoredTensor(name, shape, dtype, end - start), start, end


def _sizes(field: str, value: Any, where: str) -> tuple[int, ...]:
    if isinstance(value, list) and all(
        type(size) is int and 0 <= size <= _LARGEST for size in value
    ):
        return tuple(value)
    raise DescriptionError(f"{field} is a list of whole numbers, not below 0", where=where)


def _check_metadata(metadata: Any, where: str) -> None:
    is_text = isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())
    if metadata is not None and not is_text:
        raise DescriptionError("__metadata__ holds texts alone", where=where)
