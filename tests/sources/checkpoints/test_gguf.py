"""GGUF files: read as the reference package reads them, damaged ones refused."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.constants import GGML_QUANT_SIZES

from tests.support.running import answer, refusal_of, run
from txcalc.errors import DescriptionError, RefusedError
from txcalc.sources.checkpoints import load_checkpoint
from txcalc.sources.checkpoints.gguf import Array, head_of
from txcalc.sources.checkpoints.pieces import file_of
from txcalc.sources.loading import load
from txcalc.workload.gguf import FILE_TYPES

D, F, KV, VOCAB = 64, 128, 32, 256
Q8 = GGMLQuantizationType.Q8_0


LAYER: dict[str, tuple[int, ...]] = {
    "attn_norm.weight": (D,), "attn_q.weight": (D, D), "attn_k.weight": (KV, D),
    "attn_v.weight": (KV, D), "attn_output.weight": (D, D), "ffn_norm.weight": (D,),
    "ffn_gate.weight": (F, D), "ffn_up.weight": (F, D), "ffn_down.weight": (D, F),
}  # fmt: skip
"""The tensors of a layer of llama, as llama.cpp names them."""


def small(
    path: Path,
    layers: int = 1,
    *,
    arch: str = "llama",
    head: bool = False,
    layer: Mapping[str, tuple[int, ...]] = LAYER,
    **keys: Any,
) -> Path:
    """A model of 4 heads and 2 KV heads; matrices of whole blocks in q8_0, the rest in f32."""
    writer = GGUFWriter(path, arch)
    writer.add_block_count(layers)
    writer.add_context_length(64)
    writer.add_embedding_length(D)
    writer.add_feed_forward_length(F)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_token_list([f"<{i}>" for i in range(VOCAB)])
    for key, value in keys.items():
        writer.add_uint32(f"{arch}.{key}", value)
    shapes = {"token_embd.weight": (VOCAB, D), "output_norm.weight": (D,)}
    if head:
        shapes["output.weight"] = (VOCAB, D)
    shapes |= {f"blk.{i}.{name}": shape for i in range(layers) for name, shape in layer.items()}
    for name, shape in shapes.items():
        if len(shape) == 1 or shape[-1] % 32:
            writer.add_tensor(name, np.zeros(shape, np.float32))
        else:
            bytes_ = (*shape[:-1], shape[-1] // 32 * 34)
            writer.add_tensor(name, np.zeros(bytes_, np.uint8), raw_dtype=Q8)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_tensors_are_those_of_the_reference_package(tmp_path: Path) -> None:
    path = small(tmp_path / "m.gguf", 3, head=True)
    read = load_checkpoint(str(path)).tensors
    expected = [
        (t.name, tuple(reversed([int(n) for n in t.shape])), t.tensor_type.name, t.n_bytes)
        for t in GGUFReader(path).tensors
    ]
    assert [(t.name, t.shape, t.dtype, t.bytes) for t in read] == expected


def test_types_are_those_of_the_reference_package() -> None:
    for type_ in GGMLQuantizationType:
        [piece] = FILE_TYPES[type_].pieces
        assert ((piece.columns, piece.bytes), FILE_TYPES[type_].name) == (
            GGML_QUANT_SIZES[type_], type_.name.lower(),
        )  # fmt: skip


def test_keys_are_walked_over(tmp_path: Path) -> None:
    """Every type of value, and lists of them; of texts and long lists the length alone."""
    writer = GGUFWriter(tmp_path / "m.gguf", "llama")
    values: dict[str, Any] = {
        "uint8": 1, "int8": -1, "uint16": 2, "int16": -2, "uint32": 3, "int32": -3, "uint64": 4,
        "int64": -4, "float32": 0.5, "float64": 0.25, "bool": True, "string": "text",
    }  # fmt: skip
    for kind, value in values.items():
        getattr(writer, f"add_{kind}")(f"of.{kind}", value)
    writer.add_array("of.few", [7, 8])
    writer.add_array("of.many", list(range(5000)))
    writer.add_array("of.texts", ["ä", "b" * 70_000, "c"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with file_of(str(tmp_path / "m.gguf")) as file:
        keys = head_of(file).keys
    assert {kind: keys[f"of.{kind}"] for kind in values} == values
    assert keys["of.few"] == Array(2, (7, 8))
    assert (keys["of.many"], keys["of.texts"]) == (Array(5000), Array(3))


def test_a_vocabulary_longer_than_the_first_piece(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_array("texts", ["x" * 1000] * 5000)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with file_of(str(tmp_path / "m.gguf")) as file:
        assert head_of(file).keys["texts"] == Array(5000)


@pytest.mark.parametrize(
    ("at", "bytes_", "why"),
    [
        (4, struct.pack("<I", 9), "version 9"),
        (4, struct.pack(">I", 3), "little-endian"),
        (8, struct.pack("<Q", 2**60), "1,152,921,504,606,846,976 tensors"),
        (16, struct.pack("<Q", 2**60), "1,152,921,504,606,846,976 keys"),
        (24, struct.pack("<Q", 2**60), "truncated or damaged"),
    ],
)
def test_a_damaged_head_is_refused(at: int, bytes_: bytes, why: str, tmp_path: Path) -> None:
    path = small(tmp_path / "m.gguf")
    data = bytearray(path.read_bytes())
    data[at : at + len(bytes_)] = bytes_
    path.write_bytes(data)
    with pytest.raises(DescriptionError, match=why):
        load_checkpoint(str(path))


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    """After the last tensor a file may be padded; nothing before that may be lost."""
    whole = small(tmp_path / "m.gguf").read_bytes()
    path = tmp_path / "short.gguf"
    for length in range(0, len(whole), 997):
        path.write_bytes(whole[:length])
        assert refusal_of(lambda: load_checkpoint(str(path))), length


def test_tensors_that_overlap_or_stand_twice_are_refused(tmp_path: Path) -> None:
    data = small(tmp_path / "m.gguf").read_bytes()
    path = tmp_path / "other.gguf"
    name = b"blk.0.attn_q.weight"
    at = data.index(name) + len(name) + 4 + 2 * 8 + 4
    path.write_bytes(data[:at] + struct.pack("<Q", 32) + data[at + 8 :])
    with pytest.raises(DescriptionError, match=r"attn_q\.weight' begins at 32"):
        load_checkpoint(str(path))
    path.write_bytes(data.replace(b"blk.0.attn_k.weight", b"blk.0.attn_v.weight"))
    with pytest.raises(DescriptionError, match=r"attn_v\.weight' stands twice"):
        load_checkpoint(str(path))


def test_one_part_of_several_is_refused(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_uint16("split.count", 3)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(DescriptionError, match="gguf-split --merge"):
        load_checkpoint(str(tmp_path / "m.gguf"))


@pytest.mark.parametrize("head", [False, True])
def test_the_description_is_that_of_its_keys(head: bool, tmp_path: Path) -> None:
    """The parameters are those of the tensors, counted by the reference package."""
    path = small(tmp_path / "m.gguf", 3, head=head)
    elements = sum(int(t.n_elements) for t in GGUFReader(path).tensors)
    assert answer("get", path, "params.total") == f"{elements}\n"
    model = load(str(path))
    assert model.head is not None
    assert model.head.tied is not head
    assert run("verify", path).code == 0


def without(*starts: str) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, shape in LAYER.items() if not name.startswith(starts)}


BIASES: dict[str, tuple[int, ...]] = {
    "attn_q.bias": (D,),
    "attn_k.bias": (KV,),
    "attn_v.bias": (KV,),
}
HEAD_NORMS: dict[str, tuple[int, ...]] = {"attn_q_norm.weight": (16,), "attn_k_norm.weight": (16,)}
EXPERTS: dict[str, tuple[int, ...]] = {
    "ffn_gate_inp.weight": (8, D), "ffn_gate_exps.weight": (8, 32, D),
    "ffn_up_exps.weight": (8, 32, D), "ffn_down_exps.weight": (8, D, 32),
}  # fmt: skip
ROUTED = {"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32}
ARCHITECTURES: dict[str, tuple[dict[str, int], dict[str, tuple[int, ...]]]] = {
    "qwen2": ({}, {**LAYER, **BIASES}),
    "qwen3": ({"attention.key_length": 16}, {**LAYER, **HEAD_NORMS}),
    "qwen3moe": (ROUTED, {**without("ffn_gate", "ffn_up", "ffn_down"), **HEAD_NORMS, **EXPERTS}),
    "qwen2moe": (
        ROUTED | {"expert_shared_feed_forward_length": 64},
        {**without("ffn_gate", "ffn_up", "ffn_down"), **BIASES, **EXPERTS,
         "ffn_gate_inp_shexp.weight": (D,), "ffn_gate_shexp.weight": (64, D),
         "ffn_up_shexp.weight": (64, D), "ffn_down_shexp.weight": (D, 64)},
    ),
    "phi3": ({}, {**without("attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"),
                  "attn_qkv.weight": (D + 2 * KV, D), "ffn_up.weight": (2 * F, D)}),
    "gemma": (
        {"attention.key_length": 32},
        {**LAYER, "attn_q.weight": (2 * D, D), "attn_k.weight": (2 * KV, D),
         "attn_v.weight": (2 * KV, D), "attn_output.weight": (D, 2 * D)},
    ),
    "olmo2": ({}, {**without("attn_norm", "ffn_norm"), "attn_q_norm.weight": (D,),
                   "attn_k_norm.weight": (KV,), "post_attention_norm.weight": (D,),
                   "post_ffw_norm.weight": (D,)}),
}  # fmt: skip
"""Keys and tensors of a layer, as llama.cpp's converters write them."""


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_file_holds_the_model_that_its_keys_describe(arch: str, tmp_path: Path) -> None:
    """The description's parameters are the elements of the file, and each tensor is a row's."""
    keys, layer = ARCHITECTURES[arch]
    path = small(tmp_path / "m.gguf", 2, arch=arch, layer=layer, **keys)
    elements = sum(int(t.n_elements) for t in GGUFReader(path).tensors)
    assert answer("get", path, "params.total") == f"{elements}\n"
    assert run("verify", path).code == 0


@pytest.mark.parametrize(
    ("arch", "keys", "why"),
    [
        ("rwkv7", {}, "'rwkv7' is not read from GGUF"),
        ("deepseek2", {}, "'deepseek2' is not read from GGUF"),
        ("llama", {"attention.kv_lora_rank": 8}, "attention.kv_lora_rank"),
    ],
)
def test_another_architecture_is_refused(
    arch: str, keys: dict[str, int], why: str, tmp_path: Path
) -> None:
    path = small(tmp_path / "m.gguf", arch=arch, **keys)
    with pytest.raises(RefusedError, match=why):
        load(str(path))


def test_a_vocabulary_alone_is_refused(tmp_path: Path) -> None:
    """As llama.cpp's models/ggml-vocab-llama-spm.gguf: nothing shows whether the head is tied."""
    writer = GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_vocab_size(32000)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(RefusedError, match="a vocabulary alone"):
        load(str(tmp_path / "m.gguf"))
