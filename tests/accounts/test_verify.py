"""Checkpoints against models: real headers, classes on the meta device, and what is made wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.checkpoints import (
    INDEXES,
    LLAMA,
    MINILM,
    Header,
    header_of,
    in_memory,
    llama_header,
    measured,
    names_of,
    tensors_of,
)
from tests.support.oracle import model_of, rows
from tests.support.running import find, report
from txcalc.accounts.matching.matching import matched
from txcalc.accounts.verify import verdict
from txcalc.errors import RefusedError
from txcalc.model.model import Model
from txcalc.report.report import Difference
from txcalc.sources import description, huggingface
from txcalc.workload.checkpoint import Checkpoint, StoredTensor

MEASURED = measured()
DENSE = {key: value for key, value in LLAMA.items() if key != "architectures"}


def described(config: dict[str, Any]) -> Model:
    tree, _, _ = huggingface.describe(json.dumps(config).encode(), "config.json", name="model")
    return description.build(tree, "tree")


def llama(layers: int = 4, *, tied: bool = False) -> tuple[Model, Header]:
    """A small llama, and the header that its tensors have."""
    config = DENSE | {"num_hidden_layers": layers, "tie_word_embeddings": tied}
    return described(config), llama_header(config)


def differences(model: Model, header: Header) -> list[Difference]:
    return matched(model, in_memory(header)).differences


def test_a_real_checkpoint_holds_its_model() -> None:
    """22,713,216 parameters are published; 512 position numbers are stored beside them."""
    model = described(MINILM["config"])
    asked = {"checkpoint": in_memory(MINILM["header"])}
    for address, value in {
        "tensors": 104, "elements": 22_713_728, "elements.rows": 22_713_216, "missing": 0,
        "elements.buffers": 512, "bytes": 90_856_960, "bytes.f32": 4 * 22_713_216,
        "bytes.i64": 4096, "extra": 0, "other_shape": 0, "other_dtype": 0, "buffers": 1,
        "tied_stored": 0,
    }.items():  # fmt: skip
        assert find(model, f"verify.{address}", **asked) == value, address
    assert find(model, "params.total") == 22_713_216
    made = report("verify", model, **asked)
    assert verdict(made, strict=False)[0]
    assert not verdict(made, strict=True)[0]


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index["source"])
def test_the_names_of_an_index_are_those_of_its_model(index: dict[str, Any]) -> None:
    """One differs, as its file says: a reward model in the place of the usual class."""
    tensors = tuple(map(StoredTensor, names_of(index)))
    checkpoint = Checkpoint(source="index", kind="safetensors", tensors=tensors, names_only=True)
    model = described(index["config"])
    found = matched(model, checkpoint)
    wrong = [(each.what, each.row or each.tensor) for each in found.differences]
    if index["source"] == "junqi-jiang/oasstpythia1.5brm":
        assert sorted(wrong) == [
            ("extra", "out_proj.bias"), ("extra", "out_proj.weight"),
            ("missing", "params.head.output"),
        ]  # fmt: skip
    else:
        assert not wrong
    assert not found.uncovered
    with pytest.raises(RefusedError, match="names only"):
        find(model, "verify.elements", checkpoint=checkpoint)


def test_a_tower_that_is_not_described_is_named() -> None:
    [index] = [each for each in INDEXES if each["source"] == "Ibtasam-98/medgemma-27b-it"]
    config = index["config"] | {"vision_config": {"model_type": "nonesuch"}}
    names = names_of(index)
    checkpoint = Checkpoint(source="index", kind="safetensors", names_only=True,
                            tensors=tuple(map(StoredTensor, names)))  # fmt: skip
    found = matched(described(config), checkpoint)
    assert not found.differences
    assert {t.name for t in found.uncovered} == {
        name for name in names if not name.startswith("language_model.")
    }


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("kailas-m/llama", "26,953,670,656 = 4 bytes x 6,738,415,616 (params.total) + 8,192"),
        ("tbressers/WizardLM-2-8x22B", "281,241,268,224 = 2 bytes x 140,620,634,112"),
        ("Alikhan13r/falcon-180B-chat", "= 2 bytes x 179,522,565,120 (params.total + 1 stored"),
        ("remodlai/qwen-2.5-vl-7b-instruct-lexiq", "2 bytes x 8,292,166,656 (params.whole)"),
    ],
)
def test_the_bytes_that_an_index_states_are_those_of_its_model(source: str, line: str) -> None:
    """32 layers with 64 inverse frequencies in fp32 beside; a head that is stored though tied."""
    [index] = [each for each in INDEXES if each["source"] == source]
    checkpoint = Checkpoint(
        source="index", kind="safetensors", tensors=tuple(map(StoredTensor, names_of(index))),
        names_only=True, total_size=index["metadata"]["total_size"],
    )  # fmt: skip
    made = report("verify", described(index["config"]), checkpoint=checkpoint)
    assert any(line in said for said in made.lead)


CONFIGS = {(name, row["name"]): row
           for name in ("models", "types", "masked", "seq2seq") for row in rows(name)}  # fmt: skip


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row['set']}-{row['name']}")
def test_the_tensors_of_a_class_are_those_of_its_model(row: dict[str, Any]) -> None:
    """Every tensor is a row's, a buffer, a tie or a tower's: none is missing, none is left."""
    header = header_of(tensors_of(row))
    found = matched(model_of(CONFIGS[row["set"], row["name"]]), in_memory(header))
    assert not found.differences
    assert not found.others


def dropped(header: Header, name: str) -> Header:
    return {n: t for n, t in header.items() if n != name}


def doubled(header: Header, name: str) -> Header:
    return {**header, f"{name}_copy": header[name]}


def renamed(header: Header, name: str) -> Header:
    return {f"renamed.{n}" if n == name else n: t for n, t in header.items()}


def called_otherwise(header: Header, name: str) -> Header:
    return {f"{n}_renamed" if n == name else n: t for n, t in header.items()}


def with_shape(header: Header, name: str, shape: list[int]) -> Header:
    return {**header, name: {**header[name], "shape": shape}}


def turned(header: Header, name: str) -> Header:
    return with_shape(header, name, header[name]["shape"][::-1])


def longer(header: Header, name: str) -> Header:
    first, *others = header[name]["shape"]
    return with_shape(header, name, [first + 1, *others])


def without_layer(header: Header, name: str) -> Header:
    number = re.search(r"^.*?\.\d+\.", name)
    return {n: t for n, t in header.items() if not (number and n.startswith(number[0]))}


MUTATIONS = (dropped, doubled, renamed, called_otherwise, turned, longer, without_layer)


def mutated(header: Header) -> Iterator[tuple[str, Header]]:
    """Each mutation of each tensor that it changes."""
    for name, tensor in header.items():
        if name == "__metadata__" or "position_ids" in name:
            continue
        shape = tensor["shape"]
        for mutation in MUTATIONS:
            if mutation is turned and (len(shape) != 2 or shape[0] == shape[1]):
                continue
            if mutation is without_layer and ".layer" not in name:
                continue
            yield f"{mutation.__name__} {name}", mutation(header, name)


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("tied", [False, True])
def test_every_mutation_of_a_small_model_is_found(layers: int, tied: bool) -> None:
    model, header = llama(layers, tied=tied)
    assert not differences(model, header)
    for what, changed in mutated(header):
        assert differences(model, changed), what


def test_every_mutation_of_a_real_checkpoint_is_found() -> None:
    """Every eighth of all there are, so that each kind of them comes to each layer."""
    model = described(MINILM["config"])
    for what, changed in list(mutated(MINILM["header"]))[::8]:
        assert differences(model, changed), what


def test_a_difference_names_row_layer_shapes_and_tensor() -> None:
    model, header = llama()
    name = "model.layers.2.self_attn.k_proj.weight"
    [lost] = differences(model, dropped(header, name))
    assert lost == Difference(
        what="missing", row="params.block.decoder.attention.k", layer=2, expected="32 x 64",
        tensor=name,
    )  # fmt: skip
    [wrong] = differences(model, longer(header, name))
    assert wrong == Difference(
        what="other shape", row="params.block.decoder.attention.k", layer=2, expected="32 x 64",
        found="33 x 64", tensor=name,
    )  # fmt: skip
    [further] = differences(model, doubled(header, name))
    assert (further.what, further.layer, further.tensor) == ("extra", 2, f"{name}_copy")
    wide = {**header, name: {**header[name], "dtype": "F64"}}
    [other] = differences(model, wide)
    assert (other.what, other.expected, other.found) == ("other type", "F32", "F64")


def test_a_lost_layer_misses_each_of_its_tensors() -> None:
    model, header = llama()
    lost = differences(model, without_layer(header, "model.layers.3.mlp.up_proj.weight"))
    assert {each.what for each in lost} == {"missing"}
    assert [each.layer for each in lost] == [3] * 9


def test_a_model_of_other_widths_differs_in_every_layer() -> None:
    """Three matrices of the FFN have another width in each of 4 layers; nothing else differs."""
    _, header = llama()
    wrong = differences(described(DENSE | {"intermediate_size": 128}), header)
    assert len(wrong) == 3 * 4
    assert {each.what for each in wrong} == {"other shape"}
    assert {each.row.rpartition(".")[2] for each in wrong} == {"gate", "up", "down"}


@pytest.mark.parametrize("name", ["lm_head.weight", "output.weight"])
def test_a_head_that_is_stored_though_tied_is_named(name: str) -> None:
    model, header = llama(tied=True)
    header[name] = header["model.embed_tokens.weight"]
    made = report("verify", model, checkpoint=in_memory(header))
    assert made.figures["verify.tied_stored"].value == 1
    assert verdict(made, strict=False)[0]
    assert not verdict(made, strict=True)[0]


@pytest.mark.parametrize("name", ["qkv", "gate_up", "both"])
def test_fused_rows_are_rows(name: str) -> None:
    """q, k and v, or gate and up, one behind another."""
    model, header = llama()
    shapes = {n: t["shape"] for n, t in header.items()}
    fused: dict[str, list[int]] = {}
    for n, shape in shapes.items():
        if name != "gate_up" and re.search(r"[qkv]_proj", n):
            fused[re.sub(r"[qkv]_proj", "qkv_proj", n)] = [128, 64]
        elif name != "qkv" and re.search(r"(gate|up)_proj", n):
            fused[re.sub(r"(gate|up)_proj", "gate_up_proj", n)] = [192, 64]
        else:
            fused[n] = shape
    header = header_of({n: ("F32", shape) for n, shape in fused.items()})
    assert not differences(model, header)
    for what, changed in mutated(header):
        assert differences(model, changed), what


@pytest.mark.parametrize("is_turned", [False, True])
def test_stacked_experts_are_rows(is_turned: bool) -> None:
    """8 experts in one tensor, as they are or transposed; one less is found."""
    config = DENSE | {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
    _, header = llama()
    shapes = {n: t["shape"] for n, t in header.items() if ".mlp." not in n}
    for i in range(4):
        at = f"model.layers.{i}.block_sparse_moe"
        shapes[f"{at}.gate.weight"] = [8, 64]
        both, down = ([64, 192], [96, 64]) if is_turned else ([192, 64], [64, 96])
        shapes[f"{at}.experts.gate_up_proj"] = [8, *both]
        shapes[f"{at}.experts.down_proj"] = [8, *down]
    model = described(config)
    header = header_of({n: ("BF16", shape) for n, shape in shapes.items()})
    assert not differences(model, header)
    name = "model.layers.1.block_sparse_moe.experts.down_proj"
    [wrong] = differences(model, with_shape(header, name, [7, *shapes[name][1:]]))
    assert (wrong.what, wrong.layer) == ("other shape", 1)


def test_one_expert_less_is_found() -> None:
    config = DENSE | {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
    _, header = llama()
    shapes = {n: t["shape"] for n, t in header.items() if ".mlp." not in n}
    for i in range(4):
        at = f"model.layers.{i}.block_sparse_moe"
        shapes[f"{at}.gate.weight"] = [8, 64]
        for j in range(8):
            for name, shape in {"w1": [96, 64], "w2": [64, 96], "w3": [96, 64]}.items():
                shapes[f"{at}.experts.{j}.{name}.weight"] = shape
    model = described(config)
    header = header_of({n: ("BF16", shape) for n, shape in shapes.items()})
    assert not differences(model, header)
    name = "model.layers.2.block_sparse_moe.experts.5.w2.weight"
    [lost] = differences(model, dropped(header, name))
    assert (lost.what, lost.layer, lost.tensor) == ("missing", 2, name)


@pytest.mark.parametrize("is_names_only", [False, True])
def test_the_masks_of_gpt2_are_buffers(is_names_only: bool) -> None:
    """As its published file names them: h.N.attn.bias, a square of the context, and no weight."""
    d, n_layers, context = 64, 3, 64
    shapes = {"wte.weight": [50, d], "wpe.weight": [context, d]}
    for i in range(n_layers):
        for name, shape in {
            "attn.bias": [1, 1, context, context], "attn.c_attn.weight": [d, 3 * d],
            "attn.c_attn.bias": [3 * d], "attn.c_proj.weight": [d, d], "attn.c_proj.bias": [d],
            "ln_1.weight": [d], "ln_1.bias": [d], "ln_2.weight": [d], "ln_2.bias": [d],
            "mlp.c_fc.weight": [d, 4 * d], "mlp.c_fc.bias": [4 * d],
            "mlp.c_proj.weight": [4 * d, d], "mlp.c_proj.bias": [d],
        }.items():  # fmt: skip
            shapes[f"h.{i}.{name}"] = shape
    shapes |= {"ln_f.weight": [d], "ln_f.bias": [d]}
    model = described({
        "model_type": "gpt2", "n_embd": d, "n_layer": n_layers, "n_head": 4,
        "n_positions": context, "vocab_size": 50,
    })  # fmt: skip
    checkpoint = in_memory(header_of({n: ("F32", shape) for n, shape in shapes.items()}))
    if is_names_only:
        tensors = tuple(map(StoredTensor, shapes))
        checkpoint = Checkpoint(
            source="index", kind="safetensors", names_only=True, tensors=tensors
        )
    found = matched(model, checkpoint)
    assert not found.differences
    assert [t.name for t in found.buffers] == [f"h.{i}.attn.bias" for i in range(n_layers)]


def test_without_a_checkpoint_there_is_no_verdict() -> None:
    model, _ = llama()
    with pytest.raises(RefusedError, match="--checkpoint"):
        find(model, "verify.missing")


def gptq(n_out: int, n_in: int) -> dict[str, tuple[str, list[int]]]:
    """arXiv:2210.17323's published code: 8 codes of a column in an int32, groups of 32 inputs."""
    return {
        "qweight": ("I32", [n_in // 8, n_out]), "qzeros": ("I32", [n_in // 32, n_out // 8]),
        "scales": ("F16", [n_in // 32, n_out]), "g_idx": ("I32", [n_in]),
    }  # fmt: skip


def awq(n_out: int, n_in: int) -> dict[str, tuple[str, list[int]]]:
    """arXiv:2306.00978's published code: 8 codes of a row in an int32."""
    return {
        "qweight": ("I32", [n_in, n_out // 8]), "qzeros": ("I32", [n_in // 32, n_out // 8]),
        "scales": ("F16", [n_in // 32, n_out]),
    }  # fmt: skip


def packed(n_out: int, n_in: int) -> dict[str, tuple[str, list[int]]]:
    """compressed-tensors' pack-quantized: 8 codes of a row in an int32, and the shape."""
    return {
        "weight_packed": ("I32", [n_out, n_in // 8]), "weight_shape": ("I64", [2]),
        "weight_scale": ("BF16", [n_out, n_in // 32]),
    }  # fmt: skip


def fp8(n_out: int, n_in: int) -> dict[str, tuple[str, list[int]]]:
    """arXiv:2412.19437's published checkpoint, in tiles of 32 x 32."""
    tiles = [-(-n_out // 32), -(-n_in // 32)]
    return {"weight": ("F8_E4M3", [n_out, n_in]), "weight_scale_inv": ("F32", tiles)}


@pytest.mark.parametrize("scheme", [gptq, awq, packed, fp8], ids=lambda scheme: scheme.__name__)
def test_quantised_weights_are_rows(scheme: Any) -> None:
    """Codes of 4 or 8 bits hold rows; scales, zeros and shapes stand beside them."""
    model, header = llama()
    tensors: dict[str, tuple[str, list[int]]] = {}
    beside = 0
    for name, tensor in header.items():
        if "_proj" in name:
            pieces = scheme(*tensor["shape"])
            beside += len(pieces) - 1
            tensors |= {name.replace("weight", piece): of for piece, of in pieces.items()}
        else:
            tensors[name] = "BF16", tensor["shape"]
    found = matched(model, in_memory(header_of(tensors)))
    assert not found.differences
    assert len(found.scales) == beside
    name = next(n for n in tensors if "layers.2.mlp.up_proj" in n)
    [lost] = matched(model, in_memory(header_of(
        {n: of for n, of in tensors.items() if n != name}
    ))).differences  # fmt: skip
    assert (lost.what, lost.layer, lost.tensor) == ("missing", 2, name)
