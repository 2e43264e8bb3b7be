"""Weights in the types of a checkpoint: every byte of the rows, and nothing that is no row's."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.accounts.test_verify import described
from tests.support.checkpoints import LLAMA, MINILM, header_of, in_memory, llama_header
from tests.support.running import find, report
from txcalc.errors import OptionError, RefusedError
from txcalc.workload.checkpoint import Checkpoint, StoredTensor

MODEL = described(LLAMA)


def as_gguf(type_of: Callable[[str], str]) -> Checkpoint:
    """The tensors of the small llama in types of GGUF: q8_0 has 34 bytes for 32 elements."""
    sizes = {"F32": Fraction(4), "Q8_0": Fraction(34, 32), "Q4_0": Fraction(18, 32)}
    tensors = in_memory(llama_header(LLAMA)).tensors
    types = {t.name: "F32" if len(t.shape or ()) == 1 else type_of(t.name) for t in tensors}
    return Checkpoint(
        source="memory", kind="gguf",
        tensors=tuple(
            StoredTensor(t.name, t.shape, types[t.name], int(t.elements * sizes[types[t.name]]))
            for t in tensors
        ),
    )  # fmt: skip


def bytes_of(checkpoint: Checkpoint) -> int:
    return sum(tensor.bytes for tensor in checkpoint.tensors)


@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16", "F8_E4M3", "F64"])
def test_a_model_in_one_type(dtype: str) -> None:
    checkpoint = in_memory(llama_header(LLAMA, dtype))
    for address in ("weights.bytes", "memory.gpu.weights"):
        assert find(MODEL, address, checkpoint=checkpoint, ctx=8) == bytes_of(checkpoint)


def test_layers_in_types_of_their_own() -> None:
    """As in a GGUF mix: down projections of two layers and all values are wider."""
    checkpoint = as_gguf(
        lambda name: (
            "Q8_0" if "v_proj" in name or name[:20].endswith(("0.mlp.", "3.mlp.")) else "Q4_0"
        )
    )
    assert find(MODEL, "weights.bytes", checkpoint=checkpoint) == bytes_of(checkpoint)
    asked: dict[str, Any] = {"checkpoint": checkpoint, "ctx": 8, "pp": 2}
    stages = [find(MODEL, f"memory.stages.{i}.weights", **asked) for i in range(2)]
    assert sum(stages) == bytes_of(checkpoint)


def test_buffers_are_no_weights() -> None:
    """512 position numbers in int64 are in the file, and in no row."""
    checkpoint = in_memory(MINILM["header"])
    model = described(MINILM["config"])
    assert find(model, "weights.bytes", checkpoint=checkpoint) == bytes_of(checkpoint) - 4096


def test_fit_loads_the_bytes_of_the_checkpoint() -> None:
    checkpoint = as_gguf(lambda _: "Q8_0")
    from txcalc.sources.devices import load_device

    made = report("fit", MODEL, checkpoint=checkpoint, device=load_device("t4"), ctx=8)
    assert made.figures["fit.loaded"].value == bytes_of(checkpoint)
    assert "weights in the types of memory" in made.assumptions


def test_what_has_no_types_is_refused() -> None:
    header = llama_header(LLAMA)
    names = Checkpoint(source="index", kind="safetensors", names_only=True,
                       tensors=tuple(map(StoredTensor, header)))  # fmt: skip
    lost = {n: t for n, t in header.items() if ".2." not in n}
    scaled = header_of({n: (t["dtype"], t["shape"]) for n, t in header.items()}
                       | {"model.layers.0.mlp.up_proj.weight_scale": ("F32", [1])})  # fmt: skip
    for checkpoint, why in (
        (names, "shows no types"), (in_memory(lost), "lacks 9 tensors"),
        (in_memory(scaled), "scales beside them"),
    ):  # fmt: skip
        with pytest.raises(RefusedError, match=why):
            find(MODEL, "weights.bytes", checkpoint=checkpoint)
    with pytest.raises(OptionError, match="both say"):
        find(MODEL, "weights.bytes", checkpoint=in_memory(header), weights="fp8")
