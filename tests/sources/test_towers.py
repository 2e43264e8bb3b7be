"""Towers and what joins them, against the public classes.

Facts: ``tests/oracle/towers.jsonl``, parameters of the classes of transformers 5.24.0 on the meta
device, from published and default configs; the source of each stands in its row.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.oracle import model_of, rows
from tests.support.running import answer, find, named, run, save
from txcalc.accounts import registry
from txcalc.errors import DescriptionError, RefusedError, TxcalcError
from txcalc.model.model import Model
from txcalc.model.rows import Weight
from txcalc.sources import description
from txcalc.workload.question import Question

ROWS = {row["name"]: row for row in rows("towers")}
TOWERS = ("tower", "projector")


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_parameters_of_text_tower_projector_and_whole(row: dict[str, Any]) -> None:
    report = registry.account("params", model_of(row), Question())
    assert report.find("params.whole").value == row["total"]
    for role, parameters in row.get("roles", {}).items():
        assert report.find(f"params.{role}").value == parameters


def vlm(**tower: Any) -> dict[str, Any]:
    return {
        "name": "sees",
        "source": "ours",
        "d_model": 64,
        "vocab": 100,
        "context": 32,
        "blocks": {"decoder": {"norm": "rms", "ffn": {"kind": "glu", "d_ff": 128}}},
        "layers": {"count": 2, "pattern": ["decoder"]},
        "towers": {
            "vision": {
                "reads": "image",
                "d_model": 48,
                "patch": {"patch_size": 4, "channels": 3},
                "blocks": {
                    "encoder": {
                        "norm": "layer",
                        "attention": {"kind": "mha", "n_heads": 4},
                        "ffn": {"kind": "plain", "d_ff": 96},
                    }
                },
                "layers": {"count": 3, "pattern": ["encoder"]},
                "projector": {
                    "tensors": {
                        "linear": {"use": "matmul", "dims": ["d_model", "towers.vision.d_model"]}
                    }
                },
                **tower,
            }
        },
    }


def built(tree: dict[str, Any]) -> Model:
    return description.build(tree, "tree")


def test_a_tower_by_hand() -> None:
    """Patches 4·4·3·48; a block of 4·48² + 2·48·96 and two norms; one matrix to the text model."""
    model = built(vlm())
    assert find(model, "params.tower") == 4 * 4 * 3 * 48 + 3 * (4 * 48**2 + 2 * 48 * 96 + 4 * 48)
    assert find(model, "params.projector") == 64 * 48
    assert find(model, "params.total") == 64 * 100 + 2 * (64 + 3 * 64 * 128)
    whole = sum(find(model, f"params.{role}") for role in ("text", *TOWERS))
    assert find(model, "params.whole") == whole


def test_rows_of_towers_have_roles_of_their_own() -> None:
    model = built(vlm())
    held = dict.fromkeys(TOWERS, 0)
    for row in model.rows:
        if row.role in TOWERS and isinstance(row.declared, Weight):
            layers = row.layers.sets if row.layers else row.times
            held[row.role] += int(layers.value * row.declared.stored.value)
            assert row not in model.text_rows
    assert held == {role: find(model, f"params.{role}") for role in TOWERS}


@pytest.mark.parametrize("options", [("memory", "--pp", 2), ("fit", "--kv-memory", 1)])
def test_memory_says_that_towers_are_not_in_it(options: tuple[object, ...]) -> None:
    command, *rest = options
    tree = vlm()
    tree["blocks"]["decoder"]["attention"] = {"kind": "mha", "n_heads": 4}
    shown = " ".join(answer(command, save(tree), *rest).split())
    assert "its towers and projectors are not in it" in shown
    assert "towers and projectors" not in answer(command, "toy", *rest)


def test_a_text_model_names_its_letters_as_before() -> None:
    assert find(built(vlm()), "dims.d_model") == 64
    assert find(built(vlm()), "dims.towers.vision.d_model") == 48


def test_an_encoder_alone_is_its_own_total() -> None:
    tree = {key: vlm()[key] for key in ("name", "source", "towers")}
    del tree["towers"]["vision"]["projector"]
    model = built(tree)
    assert find(model, "params.total") == find(model, "params.whole") == find(model, "params.tower")
    assert find(model, "params.text") == 0


REFUSED = {
    "no width": ({"d_model": None}, "towers.vision.d_model"),
    "no block": ({"layers": {"count": 1, "pattern": ["other"]}}, "no block 'other'"),
    "idle block": ({"layers": None}, "no stack uses this block"),
    "unknown field": ({"patchs": {}}, "did you mean 'patch'"),
    "a table": ({"layers": {"count": 1, "pattern": ["encoder"], "vocab": 9}}, "text model"),
    "a name": ({"projector": {"tensors": {"x": {"use": "norm", "dims": ["d_modl"]}}}}, "d_modl"),
    "a stride": (
        {"stem": {"conv": {"outputs": 48, "inputs": 1, "taps": 3, "stride": 0}}}, "stride"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_tower(change: dict[str, Any], words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        built(vlm(**change))


def test_squares_are_of_images() -> None:
    tree = vlm()
    attention = {"kind": "mha", "n_heads": 4, "square": 2}
    tree["blocks"]["decoder"]["attention"] = attention
    with pytest.raises(DescriptionError, match="only the patches of a tower"):
        built(tree)


def test_a_tower_that_is_not_described_is_refused_by_name() -> None:
    """Janus, arXiv:2410.13848: images are made of codes by a decoder of convolutions."""
    row = {
        "name": "janus", "type": "janus", "class": "JanusForConditionalGeneration",
        "config": {"model_type": "janus", "text_config": {"model_type": "llama"}},
    }  # fmt: skip
    model = model_of(row)
    assert find(model, "params.total") == find(model, "params.text")
    for address in ("params.whole", "params.tower", "params.projector"):
        with pytest.raises(RefusedError, match="type 'janus' is not modelled"):
            find(model, address)


def test_whisper_is_a_tower_and_a_text_model_inside_one_total() -> None:
    """openai/whisper-large-v2: 1,543,304,960 parameters, 636,784,640 of them in the encoder."""
    report = registry.account("params", named("whisper-large-v2"), Question())
    parts = {name: report.find(f"params.{name}").value for name in ("text", "tower", "whole")}
    assert parts["tower"] == parts["whole"] - parts["text"] == 636_784_640
    assert report.find("params.total").value == parts["whole"] == 1_543_304_960


def test_the_report_says_what_the_whole_is(tmp_path: Any) -> None:
    import json

    config = {**ROWS["pixtral-12b"]["config"], "architectures": ["LlavaForConditionalGeneration"]}
    path = tmp_path / "pixtral.json"
    path.write_text(json.dumps(config))
    code, out, _ = run("params", str(path), "--type", "llava")
    assert code == 0
    for figure in ("403,489,792", "31,467,520", "12,682,739,712", "12,247,782,400"):
        assert figure in out


@pytest.mark.parametrize("ratio", [0, 0.3, -0.5, 2])
def test_a_square_of_patches_has_a_whole_side(ratio: float) -> None:
    row = next(row for row in ROWS.values() if row["type"] == "internvl")
    changed = row | {"config": {**row["config"], "downsample_ratio": ratio}}
    with pytest.raises(TxcalcError, match="not one over a whole number"):
        find(model_of(changed), "params.whole")
