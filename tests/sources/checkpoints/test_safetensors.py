"""safetensors files: read as their own library reads them, and refused where it refuses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from safetensors import SafetensorError, deserialize

from tests.support.checkpoints import MINILM, header_of, written
from tests.support.running import refusal_of
from txcalc.errors import DescriptionError
from txcalc.sources.checkpoints import load_checkpoint
from txcalc.workload.checkpoint import BITS


def entry(dtype: Any = "F32", shape: Any = (2,), at: Any = (0, 8), **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": at, **more}


HEADERS: dict[str, tuple[Any, int]] = {
    "one": ({"a": entry()}, 8),
    "none": ({}, 0),
    "in any order": ({"b": entry(at=[8, 16]), "a": entry()}, 16),
    "empty tensor": ({"a": entry(shape=[0], at=[0, 0]), "b": entry()}, 8),
    "scalar": ({"a": entry(shape=[], at=[0, 4])}, 4),
    "metadata": ({"__metadata__": {"format": "pt"}, "a": entry()}, 8),
    "no metadata": ({"__metadata__": None, "a": entry()}, 8),
    "metadata of another type": ({"__metadata__": {"format": 1}, "a": entry()}, 8),
    "further keys": ({"a": entry(more=1)}, 8),
    "half bytes": ({"a": entry("F4", [4], [0, 2])}, 2),
    "half a byte left": ({"a": entry("F4", [3], [0, 2])}, 2),
    "unknown type": ({"a": entry("F33")}, 8),
    "overlap": ({"a": entry(), "b": entry(at=[4, 12])}, 12),
    "gap": ({"a": entry(), "b": entry(at=[12, 20])}, 20),
    "shape and offsets": ({"a": entry(shape=[3])}, 8),
    "below zero": ({"a": entry(shape=[-2])}, 8),
    "a fraction": ({"a": entry(shape=[2.0])}, 8),
    "true": ({"a": entry(shape=[True, 2])}, 8),
    "a text": ({"a": entry(shape="2")}, 8),
    "beyond all counting": ({"a": entry(shape=[2**40, 2**40])}, 8),
    "one offset": ({"a": entry(at=[8])}, 8),
    "no offsets": ({"a": {"dtype": "F32", "shape": [2]}}, 8),
    "backwards": ({"a": entry(at=[8, 0])}, 8),
    "no object": ({"a": [1]}, 8),
    "longer file": ({"a": entry()}, 9),
    "truncated file": ({"a": entry()}, 7),
    "a list": ([], 0),
}  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
def test_a_file_is_read_where_its_library_reads_it(name: str, tmp_path: Path) -> None:
    header, size = HEADERS[name]
    path = written(tmp_path / "m.safetensors", json.dumps(header).encode(), size=size)
    try:
        held: list[Any] | None = deserialize(path.read_bytes())
    except SafetensorError:
        held = None
    if held is None:
        assert refusal_of(lambda: load_checkpoint(str(path)))
        return
    tensors = {
        t.name: (t.dtype, list(t.shape), t.bytes) for t in load_checkpoint(str(path)).tensors
    }
    assert tensors == {n: (t["dtype"], t["shape"], len(t["data"])) for n, t in held}


@pytest.mark.parametrize("dtype", BITS)
def test_every_type_takes_the_bytes_that_its_library_says(dtype: str, tmp_path: Path) -> None:
    path = written(tmp_path / "m.safetensors", header_of({"a": (dtype, [4, 2])}))
    [(_, tensor)] = deserialize(path.read_bytes())
    [read] = load_checkpoint(str(path)).tensors
    assert (read.dtype, read.bytes) == (tensor["dtype"], len(tensor["data"]))


TWICE = b'{"a": %(a)s, "a": %(a)s}' % {b"a": json.dumps(entry()).encode()}


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (b"", "too short"),
        (b"\x10\0\0\0", "too short"),
        ((2**62).to_bytes(8, "little") + b"{}", "a header of 4,611,686,018,427,387,904 bytes"),
        ((200).to_bytes(8, "little") + b"{}", "a header of 200 bytes"),
        ((2).to_bytes(8, "little") + b"[]", "no JSON object"),
        ((6).to_bytes(8, "little") + b'{"a": ', "bad JSON"),
        (len(TWICE).to_bytes(8, "little") + TWICE + b"\0" * 8, "'a' stands twice"),
        (b"PK\x03\x04" + b"\0" * 20, "pickled"),
    ],
)
def test_a_damaged_file_is_refused(start: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(start)
    with pytest.raises(DescriptionError, match=why):
        load_checkpoint(str(path))


def test_no_more_than_the_header_is_read(tmp_path: Path) -> None:
    """The data of a terabyte are a hole in the file, and stay one."""
    header = header_of({"a": ("F32", [2**20, 2**18])})
    path = written(tmp_path / "m.safetensors", header)
    [tensor] = load_checkpoint(str(path)).tensors
    assert tensor.bytes == 2**40


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "pytorch_model.bin.index.json"])
def test_pickles_are_refused_with_what_to_do(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x80\x02")
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(DescriptionError, match=r"safetensors\.torch\.save_file"):
            load_checkpoint(str(path))


def test_a_folder_of_shards_is_one_checkpoint(tmp_path: Path) -> None:
    one, two = {"a": ("F32", [2])}, {"b": ("BF16", [3, 4]), "c": ("I64", [1])}
    written(tmp_path / "1.safetensors", header_of(one))
    written(tmp_path / "2.safetensors", header_of(two))
    index = {"metadata": {"total_size": 40}, "weight_map": {
        **dict.fromkeys(one, "1.safetensors"), **dict.fromkeys(two, "2.safetensors"),
    }}  # fmt: skip
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    read = load_checkpoint(str(tmp_path))
    assert [t.name for t in read.tensors] == ["a", "b", "c"]
    assert sum(t.bytes for t in read.tensors) == read.total_size == 40
    assert not read.names_only


@pytest.mark.parametrize(
    ("weight_map", "why"),
    [
        ({"a": "1.safetensors", "b": "1.safetensors"}, "does not hold 'b'"),
        ({"b": "1.safetensors"}, "does not hold 'b'"),
        ({}, "no weight_map"),
        ({"a": "1.safetensors", "b": "2.safetensors"}, "1 of its 2 shards are missing"),
        ({"a": "../1.safetensors"}, "in no file beside it"),
        ({"a": "1.bin"}, "that of safetensors files is wanted"),
    ],
)
def test_an_index_that_is_not_true_is_refused(
    weight_map: dict[str, str], why: str, tmp_path: Path
) -> None:
    written(tmp_path / "1.safetensors", header_of({"a": ("F32", [2])}))
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": weight_map}))
    with pytest.raises(DescriptionError, match=why):
        load_checkpoint(str(path))


def test_a_shard_that_holds_more_than_its_index_says(tmp_path: Path) -> None:
    written(tmp_path / "1.safetensors", header_of({"a": ("F32", [2]), "b": ("F32", [2])}))
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"a": "1.safetensors"}}))
    with pytest.raises(DescriptionError, match="also holds 'b'"):
        load_checkpoint(str(path))


def test_the_header_of_a_real_checkpoint(tmp_path: Path) -> None:
    """Its file has 90,868,376 bytes; the last tensor ends with the file."""
    path = written(tmp_path / "model.safetensors", MINILM["header"])
    assert path.stat().st_size == MINILM["bytes"]
    read = load_checkpoint(str(tmp_path))
    assert len(read.tensors) == 104
    assert sum(t.elements for t in read.tensors if t.dtype == "F32") == 22_713_216
