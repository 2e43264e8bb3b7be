"""What towers run on images and sound, and the tokens that become of them.

Facts: ``tests/oracle/towers.jsonl``: FLOPs as counted on the classes of transformers 5.24.0 with
eager attention, tokens as their processors count them.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.support.oracle import model_of, rows
from tests.support.running import find, named, run
from txcalc.accounts import registry
from txcalc.errors import OptionError, RefusedError
from txcalc.model.images import Whole
from txcalc.model.model import Model
from txcalc.workload.question import Question

ROWS = rows("towers")
QWEN, VOXTRAL = "qwen2.5-vl-7b", "voxtral-mini-3b"


def seeing_whole_images(model: Model) -> Model:
    """The same model without its rule of sizes: an image of as many patches as was measured."""
    tower = msgspec.structs.replace(model.towers["vision"], image=Whole())
    return msgspec.structs.replace(model, towers={"vision": tower})


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "flops" in row], ids=lambda row: row["name"]
)
def test_flops_of_towers_and_projectors(row: dict[str, Any]) -> None:
    model = model_of(row)
    for fact in row["flops"]:
        options = {name: fact[name] for name in ("image", "audio", "scores") if name in fact}
        seen = seeing_whole_images(model) if "whole" in fact else model
        report = registry.account("flops", seen, Question(**options))
        sides = ("tower",) if fact.get("of") == "tower" else ("tower", "projector")
        assert sum(report.find(f"flops.{side}").value for side in sides) == fact["total"]


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "tokens" in row], ids=lambda row: row["name"]
)
def test_tokens_of_images(row: dict[str, Any]) -> None:
    """Llama 3.2's go through cross-attention: the prompt has one mark for them."""
    model = model_of(row)
    figure = "model" if row["type"] == "mllama" else "prompt"
    for image, tokens in row["tokens"].items():
        assert find(model, f"image.tokens.{figure}", image=image) == tokens


def test_llava_by_hand() -> None:
    """LLaVA-1.5 7B: a tower of 577 tokens, of which 576 go through two matrices."""
    row = next(row for row in ROWS if row["name"] == "llava-1.5-13b")
    model, asked = model_of(row), Question(image="336x336")
    patches, tokens, d = 576, 577, 1024
    block = 2 * tokens * (4 * d * d + 2 * d * 4096) + 4 * tokens**2 * d
    report = registry.account("flops", model, asked)
    assert report.find("flops.tower").value == 2 * 3 * 14 * 14 * patches * d + 24 * block
    assert report.find("flops.projector").value == 2 * patches * (d * 5120 + 5120 * 5120)
    assert report.find("flops.whole").value == sum(
        report.find(f"flops.{part}").value for part in ("total", "tower", "projector")
    )


def test_several_images_are_one_after_another() -> None:
    model = named(QWEN)
    alone = [find_all(model, image) for image in ("448x448", "1080x1920")]
    assert find_all(model, "448x448,1080x1920") == sum(alone)


def find_all(model: Model, image: str) -> int:
    report = registry.account("flops", model, Question(image=image))
    return int(report.find("flops.tower").value + report.find("flops.projector").value)


def test_tokens_come_on_top_of_a_context_that_is_given() -> None:
    """Prefill, cache and memory are those of a text as long as both together."""
    model = named(QWEN)
    tokens = find(model, "image.tokens.prompt", image="448x448")
    assert tokens == 256
    for address, options in (
        ("flops.total", {"phase": "prefill"}), ("kvcache.sequence", {}),
        ("memory.gpu.cache", {}),
    ):  # fmt: skip
        seen = find(model, address, ctx=100, image="448x448", **options)
        assert seen == find(model, address, ctx=100 + tokens, **options)
    own = find(model, "kvcache.sequence", image="448x448")
    assert own == find(model, "kvcache.sequence")


def test_memory_holds_the_towers_that_a_question_runs() -> None:
    model = named(QWEN)
    beside = find(model, "params.tower") + find(model, "params.projector")
    with_image = find(model, "memory.gpu.weights", ctx=100, image="28x28")
    assert with_image - find(model, "memory.gpu.weights", ctx=100) == 2 * beside
    assert (
        find(model, "memory.total.weights", ctx=100, tp=2, image="28x28")
        - find(model, "memory.total.weights", ctx=100, tp=2)
        == 4 * beside
    )


def test_batch_and_phase() -> None:
    model = named(QWEN)
    one = find(model, "flops.tower", image="448x448")
    assert find(model, "flops.tower", image="448x448", batch=3, phase="prefill") == 3 * one
    assert find(model, "flops.tower", image="448x448", phase="train") == 3 * one
    assert find(model, "flops.tower", image="448x448", phase="decode") == 0
    assert find(model, "flops.tower", image="448x448", macs=True) * 2 == one
    assert find(model, "flops.tower") == find(model, "flops.projector") == 0


def test_sound_is_padded_to_pieces() -> None:
    """Voxtral, arXiv:2507.13264 section 2: pieces of 30 s, 375 tokens each."""
    model = named(VOXTRAL)
    assert find(model, "audio.tokens.model", audio="30") == 375
    assert find(model, "audio.tokens.model", audio="30.1") == 750
    assert find(model, "audio.frames", audio="1") == 1500


def test_an_encoder_alone_answers_for_its_tower() -> None:
    row = next(row for row in ROWS if row["name"] == "dinov2-base")
    model = model_of(row)
    assert find(model, "image.patches", image="224x224") == 256
    with pytest.raises(RefusedError, match="no text model receives them"):
        find(model, "image.tokens.model", image="224x224")
    with pytest.raises(RefusedError, match="no text model; its towers run on --image HxW"):
        find(model, "flops.total")


def test_cross_attention_to_images_is_refused_in_the_text_model() -> None:
    row = next(row for row in ROWS if row["name"] == "llama-3.2-11b-vision")
    model = model_of(row)
    assert find(model, "flops.tower", image="224x224") > 0
    for address in ("flops.total", "kvcache.sequence", "memory.gpu.total"):
        with pytest.raises(RefusedError, match="cross-attention"):
            find(model, address, image="224x224", ctx=100)


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (QWEN, {"image": "448"}, "as 480x640"),
        (QWEN, {"image": "0x448"}, "as 480x640"),
        (QWEN, {"image": "448x448,"}, "as 480x640"),
        (QWEN, {"image": "10x4480"}, "over 200 times"),
        (QWEN, {"audio": "3"}, "has no tower for it"),
        (VOXTRAL, {"audio": "0"}, "above 0 seconds"),
        (VOXTRAL, {"audio": "x"}, "plain decimals"),
        ("gpt2-small", {"image": "448x448"}, "has no tower for it"),
    ],
)
def test_what_cannot_be_seen_or_heard(model: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        find(named(model), "flops.tower", **options)


def test_a_tower_without_a_rule_of_sizes() -> None:
    model = named(QWEN)
    tower = msgspec.structs.replace(model.towers["vision"], image=None)
    model = msgspec.structs.replace(model, towers={"vision": tower})
    with pytest.raises(RefusedError, match="no rule of sizes is known for tower 'vision'"):
        find(model, "flops.tower", image="448x448")


def test_the_commands() -> None:
    code, out, _ = run("image", QWEN, "--image", "480x640", "--format", "json")
    assert code == 0
    assert '"image.tokens.prompt"' in out
    code, out, err = run("image", QWEN)
    assert (code, out) == (2, "")
    assert "--image HxW" in err
    code, _, err = run("image", "gpt2-small", "--image", "480x640")
    assert code == 2
    assert "no tower reads image" in err
