"""Checkpoints as headers: files whose data are holes, and tensors in memory."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.running import DATA, ORACLE
from txcalc.workload.checkpoint import BITS, Checkpoint, StoredTensor

Header = dict[str, Any]
_STAR = re.compile(r"\*")
_TYPES = {"bool": "BOOL", "int64": "I64", "float16": "F16", "int32": "I32", "uint8": "U8"}

MINILM: dict[str, Any] = json.loads((DATA / "minilm-l6-v2.json").read_text("utf-8"))
"""The header of sentence-transformers/all-MiniLM-L6-v2's model.safetensors, and its config."""
INDEXES: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "indexes.jsonl").read_text("utf-8").splitlines()
]
"""Names of the indexes of public repositories, with their configs."""


LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 50, "tie_word_embeddings": False,
}  # fmt: skip
"""The config of a small llama."""


def header_of(tensors: Mapping[str, tuple[str, Sequence[int]]]) -> Header:
    """A header of tensors that follow one another."""
    header: Header = {}
    at = 0
    for name, (dtype, shape) in tensors.items():
        end = at + math.prod(shape) * BITS[dtype] // 8
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, end]}
        at = end
    return header


def llama_header(config: Mapping[str, Any], dtype: str = "F32") -> Header:
    """The header of a llama with this config, as its public class names the tensors."""
    d, f, vocab = (config[n] for n in ("hidden_size", "intermediate_size", "vocab_size"))
    kv = d // config["num_attention_heads"] * config["num_key_value_heads"]
    shapes: dict[str, list[int]] = {"model.embed_tokens": [vocab, d]}
    for i in range(config["num_hidden_layers"]):
        for name, shape in {
            "self_attn.q_proj": [d, d], "self_attn.k_proj": [kv, d], "self_attn.v_proj": [kv, d],
            "self_attn.o_proj": [d, d], "mlp.gate_proj": [f, d], "mlp.up_proj": [f, d],
            "mlp.down_proj": [d, f], "input_layernorm": [d], "post_attention_layernorm": [d],
        }.items():  # fmt: skip
            shapes[f"model.layers.{i}.{name}"] = shape
    shapes["model.norm"] = [d]
    if not config.get("tie_word_embeddings"):
        shapes["lm_head"] = [vocab, d]
    return header_of({f"{name}.weight": (dtype, shape) for name, shape in shapes.items()})


def written(path: Path, header: Header | bytes, *, size: int | None = None) -> Path:
    """A safetensors file with this header, and as many bytes of data as it needs, or ``size``."""
    text = (
        header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    )
    text += b" " * (-len(text) % 8)
    if size is None:
        assert not isinstance(header, bytes)
        size = max((t["data_offsets"][1] for n, t in header.items() if n[:2] != "__"), default=0)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + size)
    return path


def in_memory(header: Header) -> Checkpoint:
    """The same as a reader makes of it."""
    return Checkpoint(
        source="memory", kind="safetensors",
        tensors=tuple(
            StoredTensor(name, tuple(t["shape"]), t["dtype"],
                         t["data_offsets"][1] - t["data_offsets"][0])
            for name, t in header.items() if name != "__metadata__"
        ),
    )  # fmt: skip


def names_of(index: dict[str, Any]) -> list[str]:
    """The names of an index by its patterns: ``model.layers.*.mlp.up_proj.weight x32``."""
    listed = [
        name for line in index["patterns"] for name in _expanded(*line.split(" x"), n_experts=8)
    ]
    assert len(set(listed)) == index["names"]
    return listed


def _expanded(pattern: str, count: str, n_experts: int) -> Iterable[str]:
    n = int(count)
    if pattern.count("*") > 1:
        numbers: Iterable[Sequence[int]] = itertools.product(
            range(n // n_experts), range(n_experts)
        )
    elif ".mlp.*" in pattern:
        numbers = [(0,), (2,)]  # a merger's two products, with the activation between them
    else:
        numbers = [(i,) for i in range(n)] if "*" in pattern else [()]
    return (_numbered(pattern, each) for each in numbers)


def measured() -> list[dict[str, Any]]:
    """Classes with the tensors that they have on the meta device."""
    text = (ORACLE / "tensors.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def tensors_of(row: dict[str, Any]) -> dict[str, tuple[str, Sequence[int]]]:
    """The tensors of a class by their patterns and the numbers that stand for the stars."""
    tensors: dict[str, tuple[str, Sequence[int]]] = {}
    for pattern, shape, numbers, *dtype in row["tensors"]:
        for each in _all(numbers):
            of_type = _TYPES[dtype[0]] if dtype else "F32"
            tensors[_numbered(pattern, each)] = of_type, shape
    return tensors


def _all(numbers: list[Any]) -> Iterable[Sequence[int]]:
    if numbers[:1] == ["each"]:
        listed: Iterable[Sequence[int]] = numbers[1]
        return listed
    return itertools.product(*(_range(axis) for axis in numbers))


def _range(axis: str | list[int]) -> Iterable[int]:
    if isinstance(axis, list):
        return axis
    first, last = map(int, axis.split("-"))
    return range(first, last + 1)


def _numbered(pattern: str, numbers: Sequence[int]) -> str:
    given = iter(numbers)
    return _STAR.sub(lambda _: str(next(given)), pattern)
